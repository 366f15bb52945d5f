#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "codegen/cpp_types.h"
#include "codegen/emit/common.h"
#include "codegen/emit/emit.h"
#include "codegen/lang/yaml.h"

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

// What NAME.yaml says.
struct Plugin {
  // Overloads by the namespace of the operators.
  using Kernels = std::map<std::string, std::vector<const Overload*>>;

  std::string backend;
  std::string ns;
  Kernels supported;
  Kernels autograd;  // with gradients of the backend's own
};

class Reader {
 public:
  Reader(const Model& model, lang::Diagnostics& diagnostics)
      : diagnostics_(diagnostics) {
    for (const Family& family : model.families()) {
      for (const Operator& op : family.operators) {
        for (const Overload* o : op.overloads()) {
          const std::string ns = family.is_own() ? family.ns + "::" : "";
          known_[ns + o->name] = {family.ns, o};
        }
      }
    }
  }

  Plugin read(const lang::YamlNode& root) {
    // Those of torch_xla's file; what shapes its generated nodes is not used.
    static constexpr std::string_view kKeys[] = {
        "backend",      "cpp_namespace", "supported",     "autograd",
        "full_codegen", "symint",        "ir_gen",        "non_native",
        "class_name",   "device_guard",  "extra_headers", "use_out_as_primary"};
    lang::check_keys(root, "a backend", kKeys, diagnostics_);
    Plugin p;
    p.backend = text(root, "backend");
    p.ns = text(root, "cpp_namespace");
    if (!root.find("supported") && !root.find("autograd") &&
        !root.find("full_codegen")) {
      diagnostics_.error(root.at, "a backend needs 'supported:'");
    }
    for (const char* key : {"supported", "full_codegen"}) {
      read_list(root, key, p.supported, nullptr);
    }
    read_list(root, "autograd", p.autograd, &p.supported);
    return p;
  }

 private:
  std::string text(const lang::YamlNode& root, std::string_view key) {
    const lang::YamlNode* node = root.find(key);
    if (node && node->is_scalar()) return node->str();
    diagnostics_.error(root.at, "a backend needs '" + std::string(key) + ":'");
    return {};
  }

  // An operator is in one list: `others` are those of a list read before.
  void read_list(const lang::YamlNode& root, const char* key,
                 Plugin::Kernels& kernels, const Plugin::Kernels* others) {
    const lang::YamlNode* list = root.find(key);
    if (!list) return;
    for (const lang::Text& name : lang::yaml_list(*list, key, diagnostics_)) {
      add(kernels, others, name);
    }
  }

  void add(Plugin::Kernels& kernels, const Plugin::Kernels* others,
           const lang::Text& name) {
    const auto found = known_.find(name.str());
    if (found == known_.end()) {
      std::vector<std::string_view> names;
      for (const auto& [known, o] : known_) names.push_back(known);
      diagnostics_.error(name.start(), "unknown operator '" + name.str() + "'" +
                                           lang::suggest(name.str(), names));
      return;
    }
    const auto& [ns, o] = found->second;
    const auto has = [&](const Plugin::Kernels& k) {
      const auto it = k.find(ns);
      return it != k.end() && std::find(it->second.begin(), it->second.end(),
                                        o) != it->second.end();
    };
    if (has(kernels) || (others && has(*others))) {
      diagnostics_.error(name.start(), "'" + name.str() + "' is listed twice");
      return;
    }
    kernels[ns].push_back(o);
  }

  lang::Diagnostics& diagnostics_;
  std::map<std::string, std::pair<std::string, const Overload*>, std::less<>>
      known_;
};

std::string banner_of(std::string_view file) {
  return "// Generated from " + std::string(file) + " by sygen. Do not edit.\n";
}

std::string header(const Plugin& p, std::string_view file) {
  Writer w;
  w.raw(banner_of(file));
  w.line("#pragma once");
  w.gap();
  w.line("#include <sy/library.h>");
  w.gap();
  w.comment("Kernels to write; one that is missing is named by the linker.");
  w.line("namespace " + p.ns + " {");
  for (const Plugin::Kernels* kernels : {&p.supported, &p.autograd}) {
    for (const auto& [ns, overloads] : *kernels) {
      for (const Overload* o : overloads) {
        w.gap();
        w.comment(to_string(o->schema));
        w.line(qualified(return_type(o->schema)) + ' ' + o->id + '(' +
               qualified(parameter_list(o->schema)) + ");");
      }
    }
  }
  close_namespace(w, p.ns);
  return w.str();
}

void register_kernels(Writer& w, const Plugin& p, const std::string& key,
                      const Plugin::Kernels& kernels) {
  for (const auto& [ns, overloads] : kernels) {
    w.gap();
    w.line("SY_LIBRARY_IMPL(" + ns + ", " + key + ", m) {");
    for (const Overload* o : overloads) {
      w.line("  m.impl(\"" + o->name + "\", SY_FN(" + p.ns + "::" + o->id +
             "));");
    }
    w.line("}");
  }
}

std::string registrations(const Plugin& p, std::string_view file,
                          const std::string& header_name) {
  Writer w;
  w.raw(banner_of(file));
  w.line("#include \"" + header_name + "\"");
  register_kernels(w, p, p.backend, p.supported);
  register_kernels(w, p, "Autograd" + p.backend, p.autograd);
  w.gap();
  w.comment("Every other operator runs on the CPU, and is counted.");
  w.line("SY_LIBRARY_IMPL(_, " + p.backend + ", m) {");
  w.line("  m.fallback(sy::Kernel::from_boxed(&sy::cpu_fallback));");
  w.line("}");
  return w.str();
}

}  // namespace

PluginFiles emit_plugin(const Model& model, std::string_view yaml,
                        std::string_view file, const std::string& header_name,
                        lang::Diagnostics& diagnostics) {
  const lang::YamlNode root = lang::parse_yaml(yaml, file, diagnostics);
  if (!diagnostics.empty()) return {};
  const Plugin plugin = Reader(model, diagnostics).read(root);
  if (!diagnostics.empty()) return {};
  return {header(plugin, file), registrations(plugin, file, header_name)};
}

}  // namespace sy::codegen
