#include "tools/sy/calls/claims.h"

#include <dlfcn.h>

#include <algorithm>

#include "c10/device/backend.h"
#include "c10/plugin/load_library.h"
#include "c10/process/error.h"

namespace sy::tools {

namespace {

std::vector<std::string> words(std::string_view text, char separator = ' ') {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

KernelClaims read_kernel(const std::string& path,
                         const std::vector<std::string>& dtypes,
                         std::string_view layout) {
  KernelClaims out;
  for (const std::string& name : dtypes) {
    const auto dtype = parse_scalar_type(name);
    SY_CHECK(dtype, Value, "{}: claims the unknown dtype {}", path, name);
    out.dtypes.push_back(*dtype);
  }
  out.strided = layout == "strided";
  return out;
}

// The strings that sygen wrote: the backend's key, dtypes, layout, operators.
// An operator with claims of its own has them behind its name: "aten::mm
// float32,float64 strided", "aten::mm all contiguous".
std::optional<Claims> read_claims(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return std::nullopt;
  const auto* text = static_cast<const char* const*>(
      dlsym(library, "switchyard_backend_claims"));
  dlclose(library);
  if (text == nullptr) return std::nullopt;
  Claims out;
  for (const BackendInfo& b : backends()) {
    if (b.present && b.key == text[0]) out.device = b.device + ":0";
  }
  out.common = read_kernel(path, words(text[1]), text[2]);
  for (text += 3; *text != nullptr; ++text) {
    const std::vector<std::string> own = words(*text);
    const bool alone = own.size() == 3;
    const auto dtypes = alone && own[1] != "all" ? words(own[1], ',')
                                                 : std::vector<std::string>();
    out.supported[own[0]] =
        alone ? read_kernel(path, dtypes, own[2]) : out.common;
  }
  return out;
}

std::vector<std::string> devices() {
  std::vector<std::string> out;
  for (const BackendInfo& b : backends()) {
    if (b.present && b.type > kMeta) out.push_back(b.device + ":0");
  }
  return out;
}

}  // namespace

bool Claims::supports(std::string_view op) const {
  return supported.find(op) != supported.end();
}

const KernelClaims& Claims::of(std::string_view op) const {
  const auto found = supported.find(op);
  return found == supported.end() ? common : found->second;
}

std::vector<ScalarType> Claims::dtypes() const {
  std::vector<ScalarType> out = common.dtypes;
  for (const auto& [op, own] : supported) {
    if (own.dtypes.empty()) return {};
    for (const ScalarType t : own.dtypes) {
      if (std::find(out.begin(), out.end(), t) == out.end()) out.push_back(t);
    }
  }
  return out;
}

std::string KernelClaims::outside(const Arguments& arguments) const {
  const auto has = [&](ScalarType t) {
    return dtypes.empty() ||
           std::find(dtypes.begin(), dtypes.end(), t) != dtypes.end();
  };
  for (const NamedTensor& t : arguments.tensors) {
    if (!t.tensor.defined()) continue;
    if (!has(t.tensor.dtype())) return str("{}: {}", t.name, t.tensor.dtype());
    if (!strided && !t.tensor.is_contiguous()) {
      return str("{}: not contiguous", t.name);
    }
  }
  if (arguments.tensors.empty()) return "";
  for (const Value& v : arguments.values) {
    if (v.tag() == Value::Tag::ScalarType && !has(v.to_scalar_type())) {
      return str("dtype: {}", v.to_scalar_type());
    }
  }
  return "";
}

std::vector<Plugin> load_plugins(const std::vector<std::string>& paths) {
  std::vector<Plugin> out;
  for (const std::string& path : paths) {
    const std::vector<std::string> before = devices();
    load_library(path).keep();
    Plugin p{path, {}, read_claims(path)};
    for (const std::string& d : devices()) {
      if (std::find(before.begin(), before.end(), d) == before.end()) {
        p.devices.push_back(d);
      }
    }
    out.push_back(std::move(p));
  }
  return out;
}

std::string choose_device(const std::vector<Plugin>& plugins,
                          const std::string& given) {
  if (!given.empty()) return given;
  std::string device = "cpu";
  for (const Plugin& p : plugins) {
    if (p.devices.empty()) continue;
    SY_CHECK(device == "cpu" && p.devices.size() == 1, Value,
             "the plugins have several devices; choose one by --device");
    device = p.devices[0];
  }
  return device;
}

Device device_of_tensors(const std::string& name) {
  Device device(name);
  if (device.type() > kMeta && loaded_interface(device.type()) == nullptr) {
    load_library(backend_device_name(device.type())).keep();
  }
  if (device.type() > kMeta && !device.has_index()) device.set_index(0);
  return device;
}

const Claims* claims_for(const std::vector<Plugin>& plugins, Device device) {
  for (const Plugin& p : plugins) {
    if (p.claims && !p.claims->device.empty() &&
        Device(p.claims->device).type() == device.type()) {
      return &*p.claims;
    }
  }
  return nullptr;
}

}  // namespace sy::tools
