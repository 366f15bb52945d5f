#pragma once

#include <string>

#include "aten/tensor.h"

namespace sy::nn::detail {

// `tensor` takes over memory, sizes, dtype and device of another one and stays
// the same object: members, optimizers and graphs hold it. Whether it requires
// a gradient stays too.
inline void set_data(const Tensor& tensor, const Tensor& data) {
  tensor.impl()->shallow_copy_from(*data.detach().impl());
}

// "encoder" and "weight": "encoder.weight". One that is empty is left out.
inline std::string joined_path(const std::string& module,
                               const std::string& name) {
  if (module.empty()) return name;
  return name.empty() ? module : module + "." + name;
}

// The name of Module::extra_state() in state dicts and archives.
inline constexpr const char* kExtraState = "_extra_state";

}  // namespace sy::nn::detail
