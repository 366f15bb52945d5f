#include "aten/engine/foreach.h"
#include "aten/ops/foreach_kernels.h"
#include "aten/ops/foreach_ops.h"

namespace sy::composite {

void foreach_copy_(TensorList self, TensorList src, bool non_blocking) {
  generated::check_foreach("_foreach_copy_", "self", self.size());
  generated::check_length("_foreach_copy_", "src", src.size(), self.size());
  for (size_t i = 0; i < self.size(); ++i) {
    self[i].copy_(src[i], non_blocking);
  }
  generated::name_writers(ops::_foreach_copy_::entry(), self);
}

}  // namespace sy::composite
