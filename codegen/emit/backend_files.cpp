#include <algorithm>
#include <array>
#include <cctype>

#include "codegen/emit/common.h"
#include "codegen/emit/describe.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/engine_kernels.h"
#include "codegen/emit/merge.h"
#include "codegen/model_names.h"
#include "model/cpp_types.h"

namespace sy::codegen {
namespace {

constexpr std::array<std::string_view, 11> kTypes = {
    "ArrayRef",   "Device",       "Generator",           "IntArrayRef",
    "Layout",     "MemoryFormat", "OptionalIntArrayRef", "Scalar",
    "ScalarType", "Tensor",       "TensorList"};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// "const Tensor& self" -> "const sy::Tensor& self": a plugin's kernels lie in
// a namespace of its own.
std::string qualified(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    const std::string_view word = text.substr(at, end - at);
    if (std::find(kTypes.begin(), kTypes.end(), word) != kTypes.end()) {
      out += "sy::";
    }
    out += word;
    at = end;
  }
  return out;
}

std::string claims_value(const Claims& c) {
  const auto known = claimed_dtypes();
  std::string bits;
  for (const std::string& d : c.dtypes) {
    const auto at = std::find(known.begin(), known.end(), d);
    if (!bits.empty()) bits += " | ";
    append(bits, "1u << {}", at - known.begin());
  }
  return fmt::format("{{{}, {}}}", bits.empty() ? "~0u" : bits, c.strided);
}

// "aten_mm": the suffix of an operator's constants.
std::string suffix(const std::string& ns, const Overload* o) {
  return fmt::format("{}_{}", ns, o->id);
}

std::string dtype_words(const Claims& c, const char* separator) {
  std::string out;
  for (const std::string& d : c.dtypes) {
    out += (out.empty() ? "" : separator) + d;
  }
  return out;
}

std::string layout_word(const Claims& c) {
  return c.strided ? "strided" : "contiguous";
}

// Makes a backend's two files.
class Emitter {
 public:
  Emitter(const Model& model, const Backend& backend,
          const BackendFileOptions& options, NamedKernels kernels)
      : model_(model),
        b_(backend),
        options_(options),
        kernels_(std::move(kernels)) {}

  BackendFiles run() const {
    BackendFiles out{header(), registrations()};
    if (options_.per_family) return out;
    // The families' kernels, in the same two files.
    const auto is_own = [&](std::string_view name) {
      return name == options_.header_name || name.ends_with("_kernels_gen.h") ||
             name.ends_with("backend_gen.h");
    };
    Merger headers(banner(b_.path), is_own);
    Merger sources(banner(b_.path), is_own);
    headers.add(out.header);
    sources.add(out.source);
    bool any = false;
    for (const Family& family : model_.families()) {
      const std::string source = emit_backend(model_, family, b_);
      if (source.find("SY_LIBRARY_IMPL(") == std::string::npos) continue;
      headers.add(emit_backend_header(model_, family, b_));
      sources.add(source);
      any = true;
    }
    if (!any) return out;
    return {headers.str(""), sources.str(options_.header_name)};
  }

 private:
  std::string ns() const { return b_.ns.str(); }
  std::string function(const std::string& name) const {
    return fmt::format("{}::{}", ns(), name);
  }

  std::string header() const {
    Writer w;
    w.raw(banner(b_.path));
    w.line("#pragma once");
    w.gap();
    std::set<std::string> headers;
    if (options_.plugin) {
      w.line("#include <sy/library.h>");
      w.gap();
    } else {
      headers = {"aten/tensor.h", "c10/device/backend.h"};
    }
    if (has_engines()) headers.insert("aten/backend/engines.h");
    if (has_view()) headers.insert("c10/dispatch/kernel.h");
    includes(w, headers);
    w.gap();
    if (has_engines() || has_view()) write_engine_declarations(w);
    w.comment("Kernels to write; one that is missing is named by the linker.");
    w.line("namespace {} {{", ns());
    if (!b_.interface.empty()) {
      w.gap();
      w.comment(fmt::format(R"(The devices "{}".)", b_.device.str()));
      w.line("sy::DeviceInterface& {}();", b_.interface.str());
    }
    for (const auto* list : {&kernels_.supported, &kernels_.autograd}) {
      for (const auto& [ns, overloads] : *list) {
        for (const Overload* o : overloads) {
          w.gap();
          w.comment(to_string(o->schema));
          w.line("{} {}({});", qualified(return_type(o->schema)), o->id,
                 qualified(parameter_list(o->schema)));
        }
      }
    }
    close_namespace(w, ns());
    return w.str();
  }

  // The key, devices, kernels, engines.
  std::string registrations() const {
    Writer body;
    if (has_claims()) write_claims(body);
    if (options_.plugin && claims_anything()) write_manifest(body);
    if (!b_.interface.empty()) write_devices(body);
    if (has_engines()) write_engines(body);
    write_kernels(body, b_.key.str(), kernels_.supported, true);
    write_kernels(body, "Autograd" + b_.key.str(), kernels_.autograd, false);
    if (b_.falls_back) write_fallback(body);
    Writer w;
    w.raw(banner(b_.path));
    w.line(R"(#include "{}")", options_.header_name);
    std::set<std::string> headers;
    if (has_claims()) headers.insert("aten/backend/claims.h");
    if (!options_.plugin) headers.insert("c10/plugin/library.h");
    if (!options_.plugin && b_.falls_back) {
      headers.insert("aten/backend/cpu_fallback.h");
    }
    if (has_engines()) headers.insert("aten/backend/engine_kernels.h");
    if (!headers.empty()) w.gap();
    includes(w, headers);
    w.gap();
    w.raw(body.str());
    return w.str();
  }

  void write_engine_declarations(Writer& w) const {
    w.comment("What to write for engines: see aten/backend/engine_calls.h.");
    emit_engine_declarations(w, b_, !options_.plugin);
    w.gap();
    if (!has_engines()) return;
    w.line("namespace {} {{", ns());
    w.gap();
    emit_engine_tables(w, b_, "inline constexpr");
    close_namespace(w, ns());
    w.gap();
  }

  const Claims& claims_of(const Overload* o) const {
    const auto own = kernels_.own_claims.find(o);
    return own == kernels_.own_claims.end() ? b_.claims : own->second;
  }
  bool has_own_claims(const Overload* o) const {
    return kernels_.own_claims.count(o) != 0;
  }
  bool has_claims() const {
    return b_.claims.any || !kernels_.own_claims.empty();
  }
  // Whether it has kernels that tools can ask for.
  bool claims_anything() const {
    return !kernels_.supported.empty() || !kernels_.autograd.empty() ||
           has_engines();
  }
  std::string claims_name(const std::string& ns, const Overload* o) const {
    return has_own_claims(o) ? "kClaims_" + suffix(ns, o) : "kClaims";
  }

  // The claims, and the names of the operators that they hold for.
  void write_claims(Writer& w) const {
    w.gap();
    w.line("namespace {");
    w.gap();
    w.comment("Kernels see these tensors; calls with others run on the CPU.");
    if (b_.claims.any) {
      w.line("constexpr sy::BackendClaims kClaims{};", claims_value(b_.claims));
    }
    for (const auto& [ns, overloads] : kernels_.supported) {
      for (const Overload* o : overloads) {
        if (!claims_of(o).any) continue;
        if (has_own_claims(o)) {
          w.line("constexpr sy::BackendClaims {}{};", claims_name(ns, o),
                 claims_value(claims_of(o)));
        }
        w.line(R"(constexpr char k_{}[] = "{}::{}";)", suffix(ns, o), ns,
               o->name);
      }
    }
    w.gap();
    w.line("}  // namespace");
  }

  // The manifest, which `sy conform` and `sy coverage` read from the loaded
  // library: the key, dtypes, layout, then operators, with theirs after them if
  // they have their own.
  void write_manifest(Writer& w) const {
    w.gap();
    w.comment("The claims of the backend, for tools that load it.");
    w.line("extern \"C\" __attribute__((visibility(\"default\"), used))");
    w.line("const char* const switchyard_backend_claims[] = {");
    w.line(R"(    "{}",)", b_.key.str());
    w.line(R"(    "{}",)", dtype_words(b_.claims, " "));
    w.line(R"(    "{}",)", layout_word(b_.claims));
    for (const auto& [ns, overloads] : kernels_.supported) {
      for (const Overload* o : overloads) {
        std::string line = fmt::format("{}::{}", ns, o->name);
        if (has_own_claims(o)) {
          const Claims& own = claims_of(o);
          const std::string dtypes = dtype_words(own, ",");
          append(line, " {} {}", dtypes.empty() ? "all" : dtypes,
                 layout_word(own));
        }
        w.line(R"(    "{}",)", line);
      }
    }
    w.line("    nullptr};");
  }

  void write_devices(Writer& w) const {
    w.gap();
    w.line("SY_BACKEND({}, m) {{", b_.key.str());
    w.line(R"(  m.device("{}", &{}());)", b_.device.str(),
           function(b_.interface.str()));
    w.line("}");
  }

  bool has_engines() const {
    return b_.has_engine(EngineKind::kPointwise) ||
           b_.has_engine(EngineKind::kReduce) ||
           b_.has_engine(EngineKind::kScan);
  }

  bool has_view() const { return b_.has_engine(EngineKind::kView); }

  // The table of engines, and the kernels that use it. Operators that are
  // described while a program runs use the tables, and so does code that runs
  // descriptions.
  void write_engines(Writer& w) const {
    w.gap();
    const std::string table = function("kEngines");
    w.line("SY_LIBRARY_IMPL(_, {}, m) {{", b_.key.str());
    w.line(
        "  m.service(sy::BackendService::kEngines, "
        "const_cast<sy::BackendEngines*>(&{}));",
        table);
    w.line("}");
    if (b_.direct) return;
    w.gap();
    w.line("SY_LIBRARY_IMPL(aten, {}, m) {{", b_.key.str());
    const std::vector<std::string> listed = listed_beside_engines();
    if (!listed.empty()) {
      w.line("  static constexpr const char* kListed[] = {{{}}};",
             join(listed, ", "));
    }
    w.line("  sy::register_engine_kernels(m, {}{});", table,
           listed.empty() ? "" : ", kListed");
    w.line("}");
  }

  // The operators that an engine would run if the description did not list
  // them.
  std::vector<std::string> listed_beside_engines() const {
    std::vector<std::string> out;
    for (const Family& family : model_.families()) {
      if (family.is_own()) continue;
      for (const Operator& op : family.operators) {
        const auto engine = engine_of(op);
        if (!engine || !b_.has_engine(*engine)) continue;
        for (const Overload* o : op.overloads()) {
          if (!lists(b_, family, *o)) continue;
          out.push_back(fmt::format(R"("{}")", o->name));
        }
      }
    }
    return out;
  }

  void write_kernels(Writer& w, const std::string& key,
                     const NamedKernels::Overloads& kernels,
                     bool claims) const {
    for (const auto& [ns, overloads] : kernels) {
      w.gap();
      w.line("SY_LIBRARY_IMPL({}, {}, m) {{", ns, key);
      for (const Overload* o : overloads) {
        const std::string kernel = function(o->id);
        const bool claimed = claims && claims_of(o).any;
        w.line(R"(  m.impl("{}", SY_FN({}));)", o->name,
               claimed ? fmt::format("(*sy::claimed<&{}, {}, k_{}>)", kernel,
                                     claims_name(ns, o), suffix(ns, o))
                       : kernel);
      }
      w.line("}");
    }
  }

  void write_fallback(Writer& w) const {
    w.gap();
    w.comment("Every other operator runs on the CPU, and is counted.");
    w.line("SY_LIBRARY_IMPL(_, {}, m) {{", b_.key.str());
    w.line("  m.fallback(sy::Kernel::from_boxed(&sy::cpu_fallback));");
    w.line("}");
  }

  const Model& model_;
  const Backend& b_;
  const BackendFileOptions& options_;
  const NamedKernels kernels_;
};

}  // namespace

BackendFiles emit_backend_files(const Model& model, const Backend& backend,
                                const BackendFileOptions& options,
                                lang::Diagnostics& diagnostics) {
  NamedKernels kernels = named_kernels(model, backend, diagnostics);
  if (!diagnostics.empty()) return {};
  return Emitter(model, backend, options, std::move(kernels)).run();
}

}  // namespace sy::codegen
