#include "autograd/saved_meta.h"

namespace sy::autograd {

TensorOptions SavedMeta::options() const {
  return TensorOptions(dtype_).device(device_).layout(kStrided);
}

std::string to_string(const SavedMeta& m) {
  if (!m.defined()) return "undefined";
  return str("{}{} on {}", dtype_name(m.dtype()), m.sizes(), m.device());
}

}  // namespace sy::autograd
