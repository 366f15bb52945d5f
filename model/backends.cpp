#include "model/backends.h"

#include <algorithm>
#include <cctype>

#include "lang/format.h"
#include "lang/yaml.h"
#include "model/model.h"

namespace sy::model {
namespace {

using lang::Text;
using lang::YamlNode;

constexpr std::array<std::string_view, kEngines> kEngineNames = {
    "pointwise", "reduce", "scan", "view"};

constexpr std::array<std::string_view, 10> kDtypes = {
    "uint8",   "int8",    "int16",   "int32", "int64",
    "float16", "float32", "float64", "bool",  "bfloat16"};

constexpr std::array<std::string_view, 2> kAliases = {
    "CompositeExplicitAutograd", "CompositeImplicitAutograd"};

// Our keys, then those of torch_xla's file. Keys that shape its generated nodes
// are not used.
constexpr std::array<std::string_view, 20> kKeys = {
    "backend",      "plugin",       "cpp_namespace", "device",
    "engines",      "engine_calls", "structured",    "fallback",
    "supported",    "autograd",     "dtypes",        "layouts",
    "full_codegen", "symint",       "ir_gen",        "non_native",
    "class_name",   "device_guard", "extra_headers", "use_out_as_primary"};
constexpr std::array<std::string_view, 8> kOwnKeys = {
    "device",   "engines", "engine_calls", "structured",
    "fallback", "plugin",  "dtypes",       "layouts"};

bool has(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_identifier(std::string_view s) {
  return !s.empty() && std::isdigit(static_cast<unsigned char>(s[0])) == 0 &&
         std::all_of(s.begin(), s.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
         });
}

// The keys that begin a line.
template <class F>
bool any_key(std::string_view text, const F& is) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && is(line.substr(0, colon))) {
      return true;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

class Reader {
 public:
  Reader(const YamlNode& root, lang::Diagnostics& diagnostics)
      : root_(root), diagnostics_(diagnostics) {}

  void read(Backend& b) {
    lang::check_keys(root_, "a backend", kKeys, diagnostics_);
    b.key = needed("backend");
    check(b.key, is_identifier(b.key.str()), "a dispatch key");
    b.ns = needed("cpp_namespace");
    check(b.ns, is_namespace(b.ns.str()), "a C++ namespace");
    device(b);
    engines(b);
    b.direct = !choice("engine_calls", "shared", "direct");
    b.fills = choice("structured", "fill", "sizes");
    b.falls_back = choice("fallback", "cpu", "none");
    b.plugin = root_.find("plugin") && choice("plugin", "true", "false");
    if (!root_.find("supported") && !root_.find("autograd") &&
        !root_.find("full_codegen") && !root_.find("engines")) {
      error(root_.at, "a backend needs 'supported:'");
    }
    claims(root_, b.claims);
    supported(b);
    if (const YamlNode* list = root_.find("full_codegen")) {
      for (Text& t : lang::yaml_list(*list, "full_codegen", diagnostics_)) {
        b.supported.push_back({std::move(t), {}});
      }
    }
    if (const YamlNode* list = root_.find("autograd")) {
      b.autograd = lang::yaml_list(*list, "autograd", diagnostics_);
    }
  }

 private:
  template <class... Args>
  void error(const lang::Location& at,
             fmt::format_string<const Args&...> format, const Args&... args) {
    diagnostics_.error(at, fmt::format(format, args...));
  }

  Text needed(const std::string& key) {
    const YamlNode* node = root_.find(key);
    if (node && node->is_scalar()) return node->scalar;
    error(root_.at, "a backend needs '{}:'", key);
    return {};
  }

  void check(const Text& t, bool good, const std::string& what) {
    if (t.empty() || good) return;
    error(t.start(), "'{}' is no name of {}", t.str(), what);
  }

  // `npu`, or `{name: npu, interface: devices}`.
  void device(Backend& b) {
    const YamlNode* node = root_.find("device");
    if (!node) return;
    if (node->is_map()) {
      static constexpr std::string_view kParts[] = {"name", "interface"};
      lang::check_keys(*node, "'device'", kParts, diagnostics_);
      if (const YamlNode* name = node->find("name")) {
        b.device = name->scalar;
      } else {
        error(node->at, "'device' needs 'name:'");
      }
      if (const YamlNode* f = node->find("interface")) {
        b.interface = f->scalar;
        check(b.interface, is_identifier(f->str()), "a function");
      }
    } else {
      b.device = node->scalar;
    }
    if (b.device.empty() && !node->is_map()) {
      error(node->at, "'device:' is the name of the devices");
    }
    check(b.device, is_identifier(b.device.str()), "devices");
  }

  void engines(Backend& b) {
    const YamlNode* list = root_.find("engines");
    if (!list) return;
    for (const Text& name : lang::yaml_list(*list, "engines", diagnostics_)) {
      if (!known(name, "engine", kEngineNames)) continue;
      const auto at = std::find(kEngineNames.begin(), kEngineNames.end(),
                                std::string_view(name.str()));
      b.engines[static_cast<std::size_t>(at - kEngineNames.begin())] = true;
    }
    // Generated kernels say Tensor and Scalar.
    if (is_namespace(b.ns.str()) && !b.ns.str().starts_with("sy::")) {
      error(b.ns.start(), "engines lie in a namespace of sy: expected 'sy::{}'",
            b.ns.str());
    }
  }

  // True without the key.
  bool choice(const char* key, std::string_view yes, std::string_view no) {
    const YamlNode* node = root_.find(key);
    if (!node) return true;
    const std::string_view words[] = {yes, no};
    if (!node->is_scalar()) {
      error(node->at, "expected {} or {} for '{}'", yes, no, key);
      return true;
    }
    return !known(node->scalar, key, words) || node->str() == yes;
  }

  // One of `words`; otherwise an error with the nearest.
  bool known(const Text& word, std::string_view what,
             std::span<const std::string_view> words) {
    if (has(words, word.str())) return true;
    error(word.start(), "unknown {} '{}'{}", what, word.str(),
          lang::suggest(word.str(), words));
    return false;
  }

  void claims(const YamlNode& map, Claims& c) {
    if (const YamlNode* list = map.find("dtypes")) {
      c.any = true;
      c.dtypes.clear();
      const auto names = lang::yaml_list(*list, "dtypes", diagnostics_);
      for (const Text& name : names) {
        if (known(name, "dtype", kDtypes)) c.dtypes.push_back(name.str());
      }
      if (names.empty()) error(list->at, "'dtypes:' names at least one dtype");
    }
    if (const YamlNode* list = map.find("layouts")) {
      c.any = true;
      c.strided = false;
      static constexpr std::string_view kLayouts[] = {"contiguous", "strided"};
      for (const Text& name : lang::yaml_list(*list, "layouts", diagnostics_)) {
        if (known(name, "layout", kLayouts)) {
          c.strided |= name.str() == "strided";
        }
      }
    }
  }

  // Names, and `NAME: {dtypes: …, layouts: …}` among them.
  void supported(Backend& b) {
    const YamlNode* list = root_.find("supported");
    if (!list) return;
    YamlNode names = *list;
    std::erase_if(names.items, [](const auto& item) { return item.is_map(); });
    if (!names.items.empty() || !list->is_sequence()) {
      for (Text& t : lang::yaml_list(names, "supported", diagnostics_)) {
        b.supported.push_back({std::move(t), {}});
      }
    }
    for (const YamlNode& item : list->items) {
      for (const auto& [name, value] : item.entries) {
        SupportedKernel kernel{name, {}};
        static constexpr std::string_view kParts[] = {"dtypes", "layouts"};
        if (value.is_map()) {
          lang::check_keys(value, "a kernel", kParts, diagnostics_);
          kernel.claims = b.claims;
          claims(value, *kernel.claims);
        } else {
          error(name.start(), "'{}:' has 'dtypes:' and 'layouts:'", name.str());
        }
        b.supported.push_back(std::move(kernel));
      }
    }
  }

  const YamlNode& root_;
  lang::Diagnostics& diagnostics_;
};

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string()
                                         : std::string(path.substr(0, slash));
}

// Looks the names of a description up.
class Resolver {
 public:
  Resolver(const Model& model, const Backend& backend,
           lang::Diagnostics& diagnostics)
      : backend_(backend), diagnostics_(diagnostics) {
    for (const Family& family : model.families()) {
      for (const Operator& op : family.operators) {
        for (const Overload* o : op.overloads()) {
          const std::string ns = family.is_own() ? family.ns + "::" : "";
          known_[ns + o->name] = {&family, &op, o};
        }
      }
    }
  }

  NamedKernels run() {
    for (const SupportedKernel& k : backend_.supported) {
      const Overload* o = add(out_.supported, k.name);
      if (o != nullptr && k.claims) out_.own_claims[o] = *k.claims;
    }
    for (const Text& name : backend_.autograd) add(out_.autograd, name);
    return std::move(out_);
  }

 private:
  struct Known {
    const Family* family;
    const Operator* op;
    const Overload* overload;
  };

  // Null after an error.
  const Overload* add(NamedKernels::Overloads& list, const Text& name) {
    const auto found = known_.find(name.str());
    if (found == known_.end()) {
      const auto names = [&] {
        std::vector<std::string_view> all;
        for (const auto& [known, o] : known_) all.push_back(known);
        return all;
      };
      error(name, "unknown operator '{}'{}", name.str(),
            suggestions_.of(name.str(), names));
      return nullptr;
    }
    const auto& [family, op, o] = found->second;
    if (out_.has(o)) {
      error(name, "'{}' is listed twice", name.str());
      return nullptr;
    }
    if (o == &op->base && op->has_kernel(backend_.key.str())) {
      error(name, "'{}' has a kernel under 'dispatch:' too: {}", name.str(),
            op->source);
      return nullptr;
    }
    list[family->ns].push_back(o);
    return o;
  }

  template <class... Args>
  void error(const Text& name, fmt::format_string<const Args&...> format,
             const Args&... args) {
    diagnostics_.error(name.start(), fmt::format(format, args...));
  }

  const Backend& backend_;
  lang::Diagnostics& diagnostics_;
  std::map<std::string, Known, std::less<>> known_;
  lang::Suggestions suggestions_;
  NamedKernels out_;
};

}  // namespace

bool is_namespace(std::string_view s) {
  for (std::size_t at; (at = s.find("::")) != std::string_view::npos;) {
    if (!is_identifier(s.substr(0, at))) return false;
    s.remove_prefix(at + 2);
  }
  return is_identifier(s);
}

std::string_view to_string(EngineKind e) {
  return kEngineNames[static_cast<std::size_t>(e)];
}

std::span<const std::string_view> claimed_dtypes() { return kDtypes; }

bool Backend::names(std::string_view op) const {
  return std::any_of(supported.begin(), supported.end(),
                     [&](const auto& k) { return k.name.str() == op; }) ||
         std::any_of(autograd.begin(), autograd.end(),
                     [&](const Text& name) { return name.str() == op; });
}

std::string Backend::inner_namespace() const {
  const std::size_t at = ns.str().rfind("::");
  return at == std::string::npos ? ns.str() : ns.str().substr(at + 2);
}

bool is_backend_file(std::string_view text) {
  return any_key(text, [](std::string_view key) { return key == "backend"; });
}

bool is_own_backend_file(std::string_view text) {
  return is_backend_file(text) &&
         any_key(text, [](std::string_view key) { return has(kOwnKeys, key); });
}

Backend read_backend(std::string_view text, std::string_view file,
                     lang::Diagnostics& diagnostics) {
  Backend b;
  b.path = std::string(file);
  b.folder = folder_of(file);
  const std::size_t before = diagnostics.size();
  const YamlNode root = lang::parse_yaml(text, file, diagnostics);
  if (diagnostics.size() == before) Reader(root, diagnostics).read(b);
  return b;
}

std::vector<Backend> read_backends(std::span<const std::string> paths,
                                   lang::Diagnostics& diagnostics) {
  std::vector<Backend> out;
  for (const std::string& path : paths) {
    const std::string text = lang::read_file(path, diagnostics);
    out.push_back(read_backend(text, backend_path(path), diagnostics));
  }
  check_backends(out, diagnostics);
  return out;
}

void check_backends(std::span<const Backend> backends,
                    lang::Diagnostics& diagnostics) {
  const auto check = [&](const char* what, Text Backend::*name) {
    std::map<std::string, const Backend*> seen;
    for (const Backend& b : backends) {
      const Text& text = b.*name;
      if (text.empty()) continue;
      const auto [it, fresh] = seen.try_emplace(text.str(), &b);
      if (fresh) continue;
      diagnostics.error(
          text.start(), "two backends have the {} '{}'; the first is at {}",
          what, text.str(), lang::to_string((it->second->*name).start()));
    }
  };
  check("key", &Backend::key);
  check("device", &Backend::device);
}

bool is_alias_key(std::string_view key) { return has(kAliases, key); }

void check_plugin_key(const lang::Text& key, lang::Diagnostics& diagnostics) {
  static constexpr std::string_view kOurs[] = {"CPU", "Meta"};
  // Keys of schemas/dispatch_keys.yaml, and PyTorch's keys beside them.
  static constexpr std::string_view kNoBackends[] = {
      "Undefined", "Dense",   "BackendSelect",  "Pending",  "TransformBack",
      "Autocast",  "Batched", "TransformFront", "CatchAll", "Python"};
  const std::string& name = key.str();
  if (has(kOurs, name)) {
    diagnostics.error(key.start(), "the library itself has the kernels of '" +
                                       name +
                                       "'; a plugin needs a key of its own");
  } else if (has(kNoBackends, name) || name.starts_with("Autograd") ||
             name.starts_with("Composite")) {
    diagnostics.error(key.start(), "'" + name + "' is no key of a backend");
  }
}

std::vector<std::string_view> dispatch_keys(std::span<const Backend> backends) {
  std::vector<std::string_view> out;
  for (const Backend& b : backends) out.push_back(b.key.str());
  out.insert(out.end(), kAliases.begin(), kAliases.end());
  return out;
}

bool NamedKernels::has(const Overload* o) const {
  for (const Overloads* list : {&supported, &autograd}) {
    for (const auto& [ns, overloads] : *list) {
      if (std::find(overloads.begin(), overloads.end(), o) != overloads.end()) {
        return true;
      }
    }
  }
  return false;
}

NamedKernels named_kernels(const Model& model, const Backend& backend,
                           lang::Diagnostics& diagnostics) {
  return Resolver(model, backend, diagnostics).run();
}

}  // namespace sy::model
