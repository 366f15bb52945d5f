#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <span>

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

constexpr std::array<std::string_view, 10> kDtypes = {
    "uint8",   "int8",    "int16",   "int32", "int64",
    "float16", "float32", "float64", "bool",  "bfloat16"};

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

// What kernels take; without `dtypes:` and `layouts:` anything.
struct Claims {
  bool any = false;
  std::vector<std::string> dtypes;  // "float32"; empty: all
  bool strided = true;
};

// What NAME.yaml says.
struct Plugin {
  // Overloads by the namespace of the operators.
  using Kernels = std::map<std::string, std::vector<const Overload*>>;

  std::string backend;
  std::string ns;
  Kernels supported;
  Kernels autograd;  // with gradients of the backend's own
  Claims claims;     // of kernels without their own
  std::map<const Overload*, Claims> own_claims;

  const Claims& claims_of(const Overload* o) const {
    const auto own = own_claims.find(o);
    return own == own_claims.end() ? claims : own->second;
  }
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
        "class_name",   "device_guard",  "extra_headers", "use_out_as_primary",
        "dtypes",       "layouts"};
    lang::check_keys(root, "a backend", kKeys, diagnostics_);
    Plugin p;
    p.backend = text(root, "backend");
    p.ns = text(root, "cpp_namespace");
    if (!root.find("supported") && !root.find("autograd") &&
        !root.find("full_codegen")) {
      diagnostics_.error(root.at, "a backend needs 'supported:'");
    }
    read_claims(root, p.claims);
    read_supported(root, p);
    read_list(root, "full_codegen", p.supported, nullptr);
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

  // The same with `NAME: {dtypes: …, layouts: …}` among the names.
  void read_supported(const lang::YamlNode& root, Plugin& p) {
    const lang::YamlNode* list = root.find("supported");
    if (!list) return;
    lang::YamlNode names = *list;
    std::erase_if(names.items, [](const auto& item) { return item.is_map(); });
    if (!names.items.empty() || !list->is_sequence()) {
      for (const lang::Text& name :
           lang::yaml_list(names, "supported", diagnostics_)) {
        add(p.supported, nullptr, name);
      }
    }
    for (const lang::YamlNode& item : list->items) {
      for (const auto& [name, value] : item.entries) {
        const Overload* const o = add(p.supported, nullptr, name);
        static constexpr std::string_view kKeys[] = {"dtypes", "layouts"};
        if (!value.is_map()) {
          diagnostics_.error(
              name.start(),
              "'" + name.str() + ":' has 'dtypes:' and 'layouts:'");
          continue;
        }
        lang::check_keys(value, "a kernel", kKeys, diagnostics_);
        Claims own = p.claims;
        read_claims(value, own);
        if (o != nullptr) p.own_claims[o] = own;
      }
    }
  }

  // Null after an error.
  const Overload* add(Plugin::Kernels& kernels, const Plugin::Kernels* others,
                      const lang::Text& name) {
    const auto found = known_.find(name.str());
    if (found == known_.end()) {
      std::vector<std::string_view> names;
      for (const auto& [known, o] : known_) names.push_back(known);
      diagnostics_.error(name.start(), "unknown operator '" + name.str() + "'" +
                                           lang::suggest(name.str(), names));
      return nullptr;
    }
    const auto& [ns, o] = found->second;
    const auto has = [&](const Plugin::Kernels& k) {
      const auto it = k.find(ns);
      return it != k.end() && std::find(it->second.begin(), it->second.end(),
                                        o) != it->second.end();
    };
    if (has(kernels) || (others && has(*others))) {
      diagnostics_.error(name.start(), "'" + name.str() + "' is listed twice");
      return nullptr;
    }
    kernels[ns].push_back(o);
    return o;
  }

  // One of `known`; otherwise an error with the nearest.
  bool check_word(const lang::Text& word, std::string_view what,
                  std::span<const std::string_view> known) {
    if (std::find(known.begin(), known.end(), word.str()) != known.end()) {
      return true;
    }
    diagnostics_.error(word.start(), "unknown " + std::string(what) + " '" +
                                         word.str() + "'" +
                                         lang::suggest(word.str(), known));
    return false;
  }

  void read_claims(const lang::YamlNode& map, Claims& c) {
    if (const lang::YamlNode* list = map.find("dtypes")) {
      c.any = true;
      c.dtypes.clear();
      const auto names = lang::yaml_list(*list, "dtypes", diagnostics_);
      for (const lang::Text& name : names) {
        if (check_word(name, "dtype", kDtypes)) c.dtypes.push_back(name.str());
      }
      if (names.empty()) {
        diagnostics_.error(list->at, "'dtypes:' names at least one dtype");
      }
    }
    if (const lang::YamlNode* list = map.find("layouts")) {
      c.any = true;
      c.strided = false;
      static constexpr std::string_view kLayouts[] = {"contiguous", "strided"};
      for (const auto& name : lang::yaml_list(*list, "layouts", diagnostics_)) {
        if (check_word(name, "layout", kLayouts)) {
          c.strided |= name.str() == "strided";
        }
      }
    }
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

std::string claims_value(const Claims& c) {
  std::string bits;
  for (const std::string& d : c.dtypes) {
    const auto at = std::find(kDtypes.begin(), kDtypes.end(), d);
    if (!bits.empty()) bits += " | ";
    bits += "1u << " + std::to_string(at - kDtypes.begin());
  }
  return "{" + (bits.empty() ? "~0u" : bits) +
         (c.strided ? ", true}" : ", false}");
}

// "aten_mm": what constants of an operator end with.
std::string suffix(const std::string& ns, const Overload* o) {
  return ns + "_" + o->id;
}

std::string claims_name(const Plugin& p, const std::string& ns,
                        const Overload* o) {
  return p.own_claims.count(o) == 0 ? "kClaims" : "kClaims_" + suffix(ns, o);
}

bool has_claims(const Plugin& p) {
  return p.claims.any || !p.own_claims.empty();
}

// The claims, and the names of the operators that they hold for.
void write_claims(Writer& w, const Plugin& p) {
  w.gap();
  w.line("namespace {");
  w.gap();
  w.comment("Kernels see these tensors; calls with others run on the CPU.");
  if (p.claims.any) {
    w.line("constexpr sy::BackendClaims kClaims" + claims_value(p.claims) +
           ";");
  }
  for (const auto& [ns, overloads] : p.supported) {
    for (const Overload* o : overloads) {
      if (!p.claims_of(o).any) continue;
      if (p.own_claims.count(o) != 0) {
        w.line("constexpr sy::BackendClaims " + claims_name(p, ns, o) +
               claims_value(p.claims_of(o)) + ";");
      }
      w.line("constexpr char k_" + suffix(ns, o) + "[] = \"" + ns +
             "::" + o->name + "\";");
    }
  }
  w.gap();
  w.line("}  // namespace");
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

// For `sy conform` and `sy coverage`, which read it from the loaded library:
// the key, dtypes, layout, then operators, with theirs after them where they
// have their own.
void write_manifest(Writer& w, const Plugin& p) {
  w.gap();
  w.comment("What the backend claims, for tools that load it.");
  w.line("extern \"C\" __attribute__((visibility(\"default\"), used))");
  w.line("const char* const switchyard_backend_claims[] = {");
  w.line("    \"" + p.backend + "\",");
  w.line("    \"" + dtype_words(p.claims, " ") + "\",");
  w.line("    \"" + layout_word(p.claims) + "\",");
  for (const auto& [ns, overloads] : p.supported) {
    for (const Overload* o : overloads) {
      std::string line = ns + "::" + o->name;
      if (p.own_claims.count(o) != 0) {
        const Claims& own = p.claims_of(o);
        const std::string dtypes = dtype_words(own, ",");
        line +=
            ' ' + (dtypes.empty() ? "all" : dtypes) + ' ' + layout_word(own);
      }
      w.line("    \"" + line + "\",");
    }
  }
  w.line("    nullptr};");
}

void register_kernels(Writer& w, const Plugin& p, const std::string& key,
                      const Plugin::Kernels& kernels, bool claims) {
  for (const auto& [ns, overloads] : kernels) {
    w.gap();
    w.line("SY_LIBRARY_IMPL(" + ns + ", " + key + ", m) {");
    for (const Overload* o : overloads) {
      const std::string function = p.ns + "::" + o->id;
      const bool claimed = claims && p.claims_of(o).any;
      w.line("  m.impl(\"" + o->name + "\", SY_FN(" +
             (claimed
                  ? "(*sy::claimed<&" + function + ", " +
                        claims_name(p, ns, o) + ", k_" + suffix(ns, o) + ">)"
                  : function) +
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
  if (has_claims(p)) {
    w.gap();
    w.line("#include \"aten/backend/claims.h\"");
    write_claims(w, p);
  }
  write_manifest(w, p);
  register_kernels(w, p, p.backend, p.supported, true);
  register_kernels(w, p, "Autograd" + p.backend, p.autograd, false);
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
