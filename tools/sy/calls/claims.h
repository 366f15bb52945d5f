#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/sy/cases/arguments.h"

namespace sy::tools {

// The dtypes and layouts that a kernel takes.
struct KernelClaims {
  std::vector<ScalarType> dtypes;  // empty: nothing was said
  bool strided = true;

  // Whether the YAML limits it.
  bool limited() const { return !dtypes.empty() || !strided; }
  // Why it need not take such a call, as "self: float64"; "" if it must.
  std::string outside(const Arguments& arguments) const;
};

// The claims of a plugin about its kernels, in its YAML; sygen puts them into
// the library (see aten/backend/claims.h).
struct Claims {
  std::string device;  // "npu:0"
  KernelClaims common;
  // "aten::add.Tensor": what is said of it alone, else `common`.
  std::map<std::string, KernelClaims, std::less<>> supported;

  bool supports(std::string_view op) const;
  // The claims for an operator; `common` for one that is not supported.
  const KernelClaims& of(std::string_view op) const;
  // Every dtype that some kernel claims; empty if one claims all.
  std::vector<ScalarType> dtypes() const;
};

// A plugin that is loaded for the life of the process.
struct Plugin {
  std::string path;
  std::vector<std::string> devices;  // that came with it
  std::optional<Claims> claims;      // none if it was made without sygen
};

// Loads libraries. Throws RegistrationError.
std::vector<Plugin> load_plugins(const std::vector<std::string>& paths);

// `given`, or the one device that plugins brought, or the CPU. Throws
// ValueError if there are several.
std::string choose_device(const std::vector<Plugin>& plugins,
                          const std::string& given);

// The device as tensors have it: "npu" is npu:0. Loads the library of that name
// that lies beside ours ("lazy", "cuda") or in SWITCHYARD_PLUGINS if no plugin
// brought the device. Throws ValueError, and RegistrationError.
Device device_of_tensors(const std::string& name);

// The claims for a device; nullptr if there are none.
const Claims* claims_for(const std::vector<Plugin>& plugins, Device device);

}  // namespace sy::tools
