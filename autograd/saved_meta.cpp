#include "autograd/saved_meta.h"

namespace sy::autograd {

TensorOptions SavedMeta::options() const {
  return TensorOptions(dtype_).device(device_).layout(kStrided);
}

}  // namespace sy::autograd
