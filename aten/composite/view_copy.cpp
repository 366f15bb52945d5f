#include "aten/engine/operator_steps.h"

#include "aten/ops/splitting_kernels.h"
#include "aten/ops/view_copy_kernels.h"
#include "aten/ops/view_copy_ops.h"

namespace sy::composite {

namespace {

// Stores each piece in its place in `out`, which has as many.
void store(const OperatorEntry& op, const std::vector<Tensor>& pieces,
           TensorList out) {
  SY_CHECK(out.size() == pieces.size(), Value,
           "[{}] out: expected {} tensors, got {}", op.name().substr(6),
           pieces.size(), out.size());
  generated::check_outs_apart(op, out);
  for (size_t i = 0; i < pieces.size(); ++i) {
    Tensor to = out[i];
    generated::check_out_dtype(op, to, pieces[i].scalar_type());
    store_result(op, pieces[i], to);
  }
}

}  // namespace

void split_copy_out(const Tensor& self, int64_t split_size, int64_t dim,
                    TensorList out) {
  store(ops::split_copy_Tensor_out::entry(), self.split(split_size, dim), out);
}

void split_with_sizes_copy_out(const Tensor& self, IntArrayRef split_sizes,
                               int64_t dim, TensorList out) {
  store(ops::split_with_sizes_copy_out::entry(),
        self.split_with_sizes(split_sizes, dim), out);
}

void unbind_copy_out(const Tensor& self, int64_t dim, TensorList out) {
  store(ops::unbind_copy_int_out::entry(), self.unbind(dim), out);
}

}  // namespace sy::composite
