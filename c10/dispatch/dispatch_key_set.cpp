#include "c10/dispatch/dispatch_key_set.h"

#include "c10/device/backend.h"

namespace sy {

std::string to_string(DispatchKeySet keys) {
  std::string out = "DispatchKeySet(";
  const auto add = [&out](const std::string& name) {
    if (out.back() != '(') out += ", ";
    out += name;
  };
  bool backends_named = false;
  for (const DispatchKeyInfo& info : kDispatchKeyInfo) {
    if (info.key >= DispatchKey::kNumFunctionality || !keys.has(info.key)) {
      continue;
    }
    if (info.prefix == nullptr || keys.backend_bits() == 0) {
      add(info.name);
      continue;
    }
    for (int n = 0; n < kMaxBackends; ++n) {
      const DeviceType t = device_type_of(n);
      if (keys.has_backend(t)) add(info.prefix + backend_key_name(t));
    }
    backends_named = true;
  }
  for (int n = 0; n < kMaxBackends && !backends_named; ++n) {
    const DeviceType t = device_type_of(n);
    if (keys.has_backend(t)) add("backend " + backend_key_name(t));
  }
  return out + ")";
}

}  // namespace sy
