#include "codegen/commands.h"

#include <algorithm>
#include <ostream>

#include "codegen/emit/common.h"
#include "codegen/emit/emit.h"
#include "codegen/files.h"
#include "codegen/model_names.h"
#include "codegen/torch/commands.h"
#include "codegen/torch/import.h"
#include "lang/yaml.h"
#include "model/model.h"

namespace sy::codegen {
namespace {

// One output file of a family. The end of its name tells which one it is.
struct Output {
  std::string_view kind;
  std::string_view path;  // with {} for the family
  std::string (*emit)(const Model&, const Family&);
};
constexpr Output kOutputs[] = {
    {"ops", "aten/ops/{}.h", &emit_functions_header},
    {"ops", "aten/ops/{}.cpp", &emit_functions},
    {"ops", "aten/ops/{}_ops.h", &emit_ops_header},
    {"ops", "aten/ops/{}_kernels.h", &emit_native_header},
    {"ops", "aten/ops/{}_def.cpp", &emit_definitions},
    {"ops", "aten/ops/{}_desc.h", &emit_descriptors_header},
    {"ops", "aten/ops/{}_desc.cpp", &emit_descriptors},
    {"ops", "aten/ops/{}_engine_kernels.h", &emit_engine_kernels},
    {"autograd", "autograd/{}_gen.cpp", &emit_autograd},
    {"library", "{}.h", &emit_library_header},
    {"library", "{}.cpp", &emit_library},
};

// An output file of a family and a backend, in the folder of the backend.
struct BackendOutput {
  std::string_view path;
  std::string (*emit)(const Model&, const Family&, const Backend&);
};
constexpr BackendOutput kBackendOutputs[] = {
    {"{}_gen.cpp", &emit_backend},
    {"{}_kernels_gen.h", &emit_backend_header},
};

// An output file of all families.
struct SharedOutput {
  std::string_view kind;
  std::string_view path;
  std::string (*emit)(const Model&);
};
constexpr SharedOutput kSharedOutputs[] = {
    {"methods", "aten/tensor_methods_gen.h", &emit_methods_header},
    {"umbrella", "aten/ops/all.h", &emit_umbrella},
    {"compiled_header", "aten/program/compiled_gen.h", &emit_compiled_header},
    {"compiled_programs", "aten/program/compiled_gen.cpp",
     &emit_compiled_programs},
    {"compiled_loops", "backends/cpu/tiles/compiled_gen.inc",
     &emit_compiled_loops},
    {"examples", "docs/ops/examples.cpp", &emit_examples},
    {"example_words", "docs/ops/examples.txt",
     [](const Model& m) {
       std::string all;
       for (const Family& f : m.families()) all += emit_example_words(f);
       return all;
     }},
};

// The output file of one enumeration.
struct EnumOutput {
  std::string_view kind;
  std::string_view path;
  std::string (*emit)(std::string_view, std::string_view, lang::Diagnostics&);
};
constexpr EnumOutput kEnumOutputs[] = {
    {"dtypes", "c10/scalar_type_gen.h", &emit_dtypes},
    {"dispatch_keys", "c10/dispatch_key_gen.h", &emit_dispatch_keys},
};

std::string in_family(std::string_view path, std::string_view family) {
  const std::size_t at = path.find("{}");
  std::string out(path.substr(0, at));
  out += family;
  return out + std::string(path.substr(at + 2));
}

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.find_last_of('/') + 1));
}

void report(const lang::Diagnostics& diagnostics, std::ostream& err) {
  if (!diagnostics.empty()) err << diagnostics.str_with_sources() << '\n';
}

// Quotes the lines of the errors in PyTorch's files.
void report(const lang::Diagnostics& diagnostics,
            const std::vector<torch::SourceFile>& sources, std::ostream& err) {
  std::vector<torch::SourceFile> quoted;
  for (const torch::SourceFile& s : sources) {
    if (s.is_torch()) quoted.push_back(s);
  }
  if (quoted.empty()) return report(diagnostics, err);
  if (!diagnostics.empty()) err << torch::report(diagnostics, quoted) << '\n';
}

std::vector<SourceText> own_sources(
    const std::vector<torch::SourceFile>& sources) {
  std::vector<SourceText> own;
  for (const torch::SourceFile& s : sources) {
    if (!s.is_torch()) own.push_back({s.path, s.text});
  }
  return own;
}

int finish(const lang::Diagnostics& diagnostics, bool written,
           std::ostream& err) {
  report(diagnostics, err);
  return diagnostics.empty() && written ? 0 : 1;
}

OutputFile make_enum(const EnumOutput& what, const std::string& input,
                     const std::string& out, lang::Diagnostics& diagnostics) {
  const std::string text = lang::read_file(input, diagnostics);
  return {out, what.emit(text, short_path(input), diagnostics)};
}

// The header and the source that a backend has beyond families.
int emit_whole_backend(const EmitOptions& options, const Model& model,
                       const Backend& backend, bool plugin,
                       lang::Diagnostics& diagnostics, std::ostream& err) {
  BackendFileOptions what;
  what.plugin = plugin;
  what.per_family = options.per_family;
  for (const std::string& out : options.outs) {
    if (!out.ends_with(".h")) continue;
    what.header_name =
        plugin ? base_name(out) : in_folder(backend, base_name(out));
  }
  const BackendFiles files =
      emit_backend_files(model, backend, what, diagnostics);
  std::vector<OutputFile> made;
  for (const std::string& out : options.outs) {
    made.push_back({out, out.ends_with(".h") ? files.header : files.source});
  }
  return finish(diagnostics, diagnostics.empty() && write_files(made, err),
                err);
}

// NAME_kernels.h and NAME_register.cpp of a NAME.yaml.
int emit_plugin(const EmitOptions& options, std::ostream& err) {
  lang::Diagnostics diagnostics;
  const Model model = Model::load(options.extra, diagnostics);
  const std::string& input = options.inputs[0];
  const std::string text = lang::read_file(input, diagnostics);
  if (!diagnostics.empty()) return finish(diagnostics, false, err);
  const Backend backend = read_backend(text, short_path(input), diagnostics);
  check_plugin_key(backend.key, diagnostics);
  return emit_whole_backend(options, model, backend, true, diagnostics, err);
}

// Whether the output is made of all families: any of the files may be one to
// know of.
bool is_shared(std::string_view kind) {
  return std::any_of(std::begin(kSharedOutputs), std::end(kSharedOutputs),
                     [&](const SharedOutput& s) { return s.kind == kind; });
}

void add_once(std::vector<std::string>& files, const std::string& file) {
  if (std::find(files.begin(), files.end(), file) == files.end()) {
    files.push_back(file);
  }
}

// The files of `family` that are called as one of `outs`.
void make_for_backend(const Model& model, const Family& family,
                      const Backend& backend, const std::string& out,
                      std::vector<OutputFile>& made) {
  for (const BackendOutput& o : kBackendOutputs) {
    if (in_family(o.path, family.name) != base_name(out)) continue;
    made.push_back({out, o.emit(model, family, backend)});
  }
}

}  // namespace

int print(const std::vector<std::string>& files, const PrintOptions& options,
          std::ostream& out, std::ostream& err) {
  lang::Diagnostics diagnostics;
  const auto sources = torch::read_sources(files, diagnostics);
  torch::print(sources, {options.autogen, options.uses}, out, diagnostics);
  const Model model = Model::load(own_sources(sources), diagnostics);
  for (const Family& family : model.families()) {
    for (const Operator& op : family.operators) {
      for (const Overload* o : op.overloads()) {
        if (o->derived && !options.autogen) continue;
        const auto ns = op.entry->schema.name().ns.view();
        if (!ns.empty()) out << ns << "::";
        out << to_string(o->schema) << '\n';
      }
    }
  }
  report(diagnostics, sources, err);
  return diagnostics.empty() ? 0 : 1;
}

int check_files(const std::vector<std::string>& files,
                const std::vector<std::string>& known, std::ostream& err) {
  lang::Diagnostics diagnostics;
  std::vector<std::string> all = files;
  all.insert(all.end(), known.begin(), known.end());
  const auto sources = torch::read_sources(all, diagnostics);
  torch::check(sources, diagnostics);
  const Model model = Model::load(own_sources(sources), diagnostics);
  for (const std::string& file : files) {
    const Backend* backend = model.find_backend(file);
    if (backend == nullptr) continue;
    // A backend in the tree is a folder's backend.yaml.
    if (base_name(file) != "backend.yaml") {
      check_plugin_key(backend->key, diagnostics);
    }
    named_kernels(model, *backend, diagnostics);
  }
  report(diagnostics, sources, err);
  return diagnostics.empty() ? 0 : 1;
}

int print_examples(const std::vector<std::string>& files,
                   const std::vector<std::string>& known, std::ostream& out,
                   std::ostream& err) {
  lang::Diagnostics diagnostics;
  std::vector<std::string> all = files;
  all.insert(all.end(), known.begin(), known.end());
  const Model model = Model::load(all, diagnostics);
  for (const std::string& file : files) {
    for (const Family& family : model.families()) {
      if (family.path == short_path(file)) out << emit_example_words(family);
    }
  }
  report(diagnostics, err);
  return diagnostics.empty() ? 0 : 1;
}

int import_entries(const ImportOptions& options, std::ostream& out,
                   std::ostream& err) {
  lang::Diagnostics diagnostics;
  std::vector<std::string> files = options.files;
  files.insert(files.end(), options.derivatives.begin(),
               options.derivatives.end());
  const auto sources = torch::read_sources(files, diagnostics);
  const auto own = own_sources(torch::read_sources(options.with, diagnostics));
  std::string text;
  if (diagnostics.empty()) {
    const auto world = torch::World::load(sources, diagnostics);
    // The import refuses files that break PyTorch's rules.
    torch::check_world(world, diagnostics);
    if (diagnostics.empty()) {
      text = torch::import_functions(world, options.ops, own, diagnostics);
    }
  }
  report(diagnostics, sources, err);
  if (!diagnostics.empty()) return 1;
  out << text;
  return 0;
}

int emit(const EmitOptions& options, std::ostream& err) {
  lang::Diagnostics diagnostics;
  const bool for_backend = options.kind == "backend";
  if (options.inputs.empty() && !is_shared(options.kind) &&
      (!for_backend || options.backend.empty())) {
    err << fmt::format("sygen: error: kind '{}' needs --input\n", options.kind);
    return 1;
  }
  for (const EnumOutput& e : kEnumOutputs) {
    if (e.kind != options.kind) continue;
    const OutputFile file =
        make_enum(e, options.inputs[0], options.outs[0], diagnostics);
    return finish(diagnostics, diagnostics.empty() && write_file(file, err),
                  err);
  }
  if (for_backend && options.backend.empty()) return emit_plugin(options, err);
  std::vector<std::string> files = options.inputs;
  for (const std::string& file : options.extra) add_once(files, file);
  if (for_backend) add_once(files, options.backend);
  const Model model = Model::load(files, diagnostics);
  if (!diagnostics.empty()) return finish(diagnostics, false, err);
  const Backend* backend = nullptr;
  if (for_backend) {
    backend = model.find_backend(options.backend);
    if (backend == nullptr) {
      err << fmt::format("sygen: error: '{}' describes no backend\n",
                         options.backend);
      return 1;
    }
    if (options.inputs.empty()) {
      return emit_whole_backend(options, model, *backend, false, diagnostics,
                                err);
    }
  }
  std::vector<OutputFile> made;
  bool known = true;
  for (const std::string& out : options.outs) {
    const std::size_t before = made.size();
    for (const SharedOutput& s : kSharedOutputs) {
      if (s.kind == options.kind) made.push_back({out, s.emit(model)});
    }
    if (made.size() != before) continue;
    for (std::size_t i = 0; i < options.inputs.size(); ++i) {
      const Family& family = model.family(i);
      if (backend != nullptr) {
        make_for_backend(model, family, *backend, out, made);
      }
      for (const Output& o : kOutputs) {
        if (o.kind == options.kind &&
            base_name(in_family(o.path, family.name)) == base_name(out)) {
          made.push_back({out, o.emit(model, family)});
        }
      }
    }
    if (made.size() != before) continue;
    err << fmt::format("sygen: error: nothing of kind '{}' is called '{}'\n",
                       options.kind, base_name(out));
    known = false;
  }
  return known && write_files(made, err) ? 0 : 1;
}

int emit_all(const std::vector<std::string>& files, const std::string& folder,
             std::ostream& err) {
  lang::Diagnostics diagnostics;
  std::vector<OutputFile> made;
  std::vector<std::string> schemas;
  for (const std::string& file : files) {
    bool is_enum = false;
    for (const EnumOutput& e : kEnumOutputs) {
      if (base_name(file) != fmt::format("{}.yaml", e.kind)) continue;
      is_enum = true;
      made.push_back(make_enum(e, file, fmt::format("{}/{}", folder, e.path),
                               diagnostics));
    }
    if (!is_enum) schemas.push_back(file);
  }
  const Model model = Model::load(schemas, diagnostics);
  if (!diagnostics.empty()) return finish(diagnostics, false, err);
  for (const SharedOutput& s : kSharedOutputs) {
    made.push_back({fmt::format("{}/{}", folder, s.path), s.emit(model)});
  }
  for (const Family& family : model.families()) {
    for (const Output& o : kOutputs) {
      if (o.kind == "library") continue;
      made.push_back(
          {fmt::format("{}/{}", folder, in_family(o.path, family.name)),
           o.emit(model, family)});
    }
    for (const Backend& b : model.backends()) {
      for (const BackendOutput& o : kBackendOutputs) {
        made.push_back(
            {fmt::format("{}/{}", folder,
                         in_folder(b, in_family(o.path, family.name))),
             o.emit(model, family, b)});
      }
    }
  }
  for (const Backend& b : model.backends()) {
    BackendFileOptions what;
    what.header_name = in_folder(b, "backend_gen.h");
    what.per_family = true;
    BackendFiles whole = emit_backend_files(model, b, what, diagnostics);
    made.push_back({fmt::format("{}/{}", folder, what.header_name),
                    std::move(whole.header)});
    made.push_back(
        {fmt::format("{}/{}", folder, in_folder(b, "backend_gen.cpp")),
         std::move(whole.source)});
  }
  if (!diagnostics.empty()) return finish(diagnostics, false, err);
  return write_files(made, err) ? 0 : 1;
}

}  // namespace sy::codegen
