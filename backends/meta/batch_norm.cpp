#include "aten/contract/batch_norm.h"

#include "aten/engine/copy.h"
#include "aten/engine/guard.h"
#include "backends/meta/batch_norm_kernels_gen.h"

namespace sy::meta {

namespace {

using MaybeTensor = std::optional<Tensor>;

Tensor tensor_of(const MaybeTensor& t) { return t ? *t : Tensor(); }

Tensor like_input(const Tensor& input) {
  Tensor t(make_tensor(input.sizes(), input.dtype(), input.device()));
  int64_t strides[TensorImpl::kMaxDims];
  dense_strides_like(t, input.suggest_memory_format(), strides);
  t.impl()->set_sizes_and_strides(input.sizes(),
                                  {strides, input.sizes().size()}, 0);
  return t;
}

Tensor vector(const Tensor& input, int64_t n, ScalarType dtype) {
  return Tensor(make_tensor({n}, dtype, input.device()));
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> native_batch_norm(
    const Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias,
    const MaybeTensor& running_mean, const MaybeTensor& running_var,
    bool training, double, double) {
  const ScalarType dtype = check_batch_norm(
      "native_batch_norm",
      {input, tensor_of(weight), tensor_of(bias), tensor_of(running_mean),
       tensor_of(running_var), training});
  const int64_t n = training ? input.sizes()[1] : 0;
  return {like_input(input), vector(input, n, dtype), vector(input, n, dtype)};
}

std::tuple<Tensor, Tensor, Tensor> native_batch_norm_backward(
    const Tensor& grad_out, const Tensor& input, const MaybeTensor& weight,
    const MaybeTensor& running_mean, const MaybeTensor& running_var,
    const MaybeTensor& save_mean, const MaybeTensor& save_invstd, bool train,
    double, ArrayRef<bool> output_mask) {
  const Tensor w = tensor_of(weight);
  check_batch_norm_grad("native_batch_norm_backward", grad_out,
                        {input, w, Tensor(), tensor_of(running_mean),
                         tensor_of(running_var), train},
                        tensor_of(save_mean), tensor_of(save_invstd));
  const ScalarType dtype = w.defined() ? w.dtype() : input.dtype();
  const int64_t n = input.sizes()[1];
  return {output_mask[0] ? like_input(input) : Tensor(),
          output_mask[1] ? vector(input, n, dtype) : Tensor(),
          output_mask[2] ? vector(input, n, dtype) : Tensor()};
}

std::tuple<Tensor, Tensor> batch_norm_update_stats(
    const Tensor& input, const MaybeTensor& running_mean,
    const MaybeTensor& running_var, double) {
  const ScalarType dtype =
      check_batch_norm("batch_norm_update_stats",
                       {input, Tensor(), Tensor(), tensor_of(running_mean),
                        tensor_of(running_var), true});
  const int64_t n = input.sizes()[1];
  return {vector(input, n, dtype), vector(input, n, dtype)};
}

}  // namespace sy::meta
