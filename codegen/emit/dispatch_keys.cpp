#include "codegen/emit/common.h"
#include "codegen/emit/emit.h"
#include "lang/cpp_text.h"
#include "lang/yaml.h"

namespace sy::codegen {
namespace {

struct Key {
  std::string name, doc, prefix;
  bool per_backend = false;
  int number = 0;
};

struct Backend {
  std::string name, device, doc;
};

// Aliases are never in a key set: their numbers lie beyond its 32 bits.
constexpr int kFirstAlias = 32;
// Keys of a functionality and a backend: a run of numbers for each per-backend
// functionality, as long as a key set has room for backends.
constexpr int kFirstBackendKey = 64;
constexpr int kBackendKeys = 32;

std::vector<Key> read(const lang::YamlNode* list, int first,
                      lang::Diagnostics& diagnostics) {
  static constexpr std::string_view kKeys[] = {"name", "doc", "prefix",
                                               "per_backend"};
  std::vector<Key> out;
  if (!list) return out;
  for (const lang::YamlNode& item : list->items) {
    lang::check_keys(item, "a dispatch key", kKeys, diagnostics);
    Key k;
    k.number = first++;
    if (const lang::YamlNode* n = item.find("name")) {
      k.name = n->str();
    } else {
      diagnostics.error(item.at, "a dispatch key needs 'name:'");
    }
    if (const lang::YamlNode* n = item.find("doc")) k.doc = n->str();
    if (const lang::YamlNode* n = item.find("prefix")) k.prefix = n->str();
    if (const lang::YamlNode* n = item.find("per_backend")) {
      k.per_backend = lang::yaml_bool(*n, "per_backend", diagnostics);
    }
    out.push_back(std::move(k));
  }
  return out;
}

std::vector<Backend> read_backends(const lang::YamlNode* list,
                                   lang::Diagnostics& diagnostics) {
  static constexpr std::string_view kKeys[] = {"name", "device", "doc"};
  std::vector<Backend> out;
  if (!list) return out;
  for (const lang::YamlNode& item : list->items) {
    lang::check_keys(item, "a backend", kKeys, diagnostics);
    Backend b;
    const auto read = [&](const char* key, std::string& to) {
      if (const lang::YamlNode* n = item.find(key)) {
        to = n->str();
      } else {
        diagnostics.error(item.at, "a backend needs '{}:'", key);
      }
    };
    read("name", b.name);
    read("device", b.device);
    read("doc", b.doc);
    out.push_back(std::move(b));
  }
  return out;
}

void write_backends(Writer& w, const std::vector<Backend>& backends) {
  w.gap();
  w.comment(
      "Backends by number; others, which register themselves, have the numbers "
      "after these.");
  w.line("enum class DeviceType : uint8_t {");
  for (std::size_t i = 0; i < backends.size(); ++i) {
    w.line("  {} = {},", backends[i].name, i);
  }
  w.line("};");
  for (const Backend& b : backends) {
    w.line("inline constexpr DeviceType k{0} = DeviceType::{0};", b.name);
  }
  w.line("inline constexpr int kNumFixedBackends = {};", backends.size());
  w.gap();
  w.raw(R"(struct FixedBackend {
  const char* key;     // of dispatch keys
  const char* device;  // of devices
  const char* doc;
};
)");
  w.gap();
  w.line("inline constexpr FixedBackend kFixedBackends[] = {");
  for (const Backend& b : backends) {
    w.line(R"(    {{"{}", "{}", {}}},)", b.name, b.device,
           lang::cpp_string(b.doc));
  }
  w.line("};");
}

// CPU, AutogradCPU and their like: a functionality and a backend in one name.
void write_backend_keys(Writer& w, const std::vector<Key>& keys,
                        const std::vector<Backend>& backends) {
  if (backends.empty()) return;
  w.line("  // A functionality of one backend, for key sets.");
  int first = kFirstBackendKey;
  for (const Key& k : keys) {
    if (!k.per_backend) continue;
    for (std::size_t i = 0; i < backends.size(); ++i) {
      w.line("  {}{} = {},", k.prefix, backends[i].name,
             first + static_cast<int>(i));
    }
    first += kBackendKeys;
  }
}

// The functionality of each run of such keys.
void write_backend_functionality(Writer& w, const std::vector<Key>& keys) {
  w.line("inline constexpr int kFirstBackendKey = {};", kFirstBackendKey);
  w.line("inline constexpr int kBackendKeys = {};  // a run", kBackendKeys);
  std::vector<std::string> names;
  for (const Key& k : keys) {
    if (k.per_backend) names.push_back("DispatchKey::" + k.name);
  }
  w.line("inline constexpr DispatchKey kBackendKeyRuns[] = {{{}}};",
         join(names, ", "));
}

}  // namespace

std::string emit_dispatch_keys(std::string_view yaml, std::string_view file,
                               lang::Diagnostics& diagnostics) {
  const lang::YamlNode root = lang::parse_yaml(yaml, file, diagnostics);
  const auto keys = read(root.find("functionality"), 0, diagnostics);
  const auto aliases = read(root.find("alias"), kFirstAlias, diagnostics);
  const auto backends = read_backends(root.find("backends"), diagnostics);
  Writer w;
  w.line("// Generated from {} by sygen. Do not edit.", file);
  w.raw("#pragma once\n\n#include <cstdint>\n");
  open_namespace(w, "sy");
  w.gap();
  w.comment("Functionalities, lowest priority first.");
  w.line("enum class DispatchKey : uint8_t {");
  std::string per_backend;
  for (const Key& k : keys) {
    w.line("  {} = {},{}", k.name, k.number,
           k.per_backend ? "  // per backend" : "");
    if (!k.per_backend) continue;
    append(per_backend, "{}(1u << {})", per_backend.empty() ? "" : " | ",
           k.number);
  }
  w.line("  kNumFunctionality = {},", keys.size());
  w.line("  // Aliases: registration only, never in a key set.");
  for (const Key& k : aliases) {
    w.line("  {} = {},", k.name, k.number);
  }
  write_backend_keys(w, keys, backends);
  w.line("};");
  w.gap();
  w.line("inline constexpr uint32_t kPerBackendFunctionality = {};",
         per_backend.empty() ? "0" : per_backend);
  if (!per_backend.empty()) write_backend_functionality(w, keys);
  w.gap();
  w.raw(R"(struct DispatchKeyInfo {
  const char* name;
  DispatchKey key;
  const char* prefix;  // of the per-backend names, nullptr if not per backend
  const char* doc;
};
)");
  w.gap();
  w.line("inline constexpr DispatchKeyInfo kDispatchKeyInfo[] = {");
  for (const auto* list : {&keys, &aliases}) {
    for (const Key& k : *list) {
      w.line(R"(    {{"{0}", DispatchKey::{0}, {1}, {2}}},)", k.name,
             k.per_backend ? lang::cpp_string(k.prefix) : "nullptr",
             lang::cpp_string(k.doc));
    }
  }
  w.line("};");
  if (!backends.empty()) write_backends(w, backends);
  close_namespace(w, "sy");
  return w.str();
}

}  // namespace sy::codegen
