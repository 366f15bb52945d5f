#include "aten/engine/foreach.h"

#include "aten/engine/generated.h"
#include "aten/engine/guard.h"
#include "aten/ops/foreach_kernels.h"
#include "aten/ops/foreach_ops.h"

namespace sy::generated {

void check_foreach(const char* op, const char* argument, size_t size) {
  SY_CHECK(size > 0, Value, "[", op, "] ", argument,
           ": expected at least one tensor, got none");
}

void check_length(const char* op, const char* argument, size_t size,
                  size_t expected) {
  SY_CHECK(size == expected, Value, "[", op, "] ", argument, ": expected ",
           expected, " elements, one for each tensor, got ", size);
}

void store_each(const OperatorEntry& op, const std::vector<Tensor>& results,
                TensorList out) {
  for (size_t i = 0; i < results.size(); ++i) {
    check_out_dtype(op, out[i], results[i].scalar_type());
  }
  for (size_t i = 0; i < results.size(); ++i) {
    Tensor to = out[i];
    store_result(op, results[i], to);
  }
}

void name_writers(const OperatorEntry& op, TensorList written) {
  for (const Tensor& t : written) name_writer(t, &op);
}

}  // namespace sy::generated

namespace sy::composite {

void foreach_copy_(TensorList self, TensorList src, bool non_blocking) {
  generated::check_foreach("_foreach_copy_", "self", self.size());
  generated::check_length("_foreach_copy_", "src", src.size(), self.size());
  for (size_t i = 0; i < self.size(); ++i) {
    Tensor to = self[i];
    to.copy_(src[i], non_blocking);
  }
  generated::name_writers(ops::_foreach_copy_::entry(), self);
}

}  // namespace sy::composite
