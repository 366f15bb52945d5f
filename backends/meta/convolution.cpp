#include "aten/contract/convolution.h"

#include "aten/engine/copy.h"
#include "aten/engine/guard.h"
#include "backends/meta/convolution_kernels_gen.h"

namespace sy::meta {

namespace {

Tensor empty_in(const Tensor& like, IntArrayRef sizes, MemoryFormat format) {
  Tensor t(make_tensor(sizes, like.dtype(), like.device()));
  if (format != MemoryFormat::Contiguous) {
    int64_t strides[TensorImpl::kMaxDims];
    dense_strides_like(t, format, strides);
    t.impl()->set_sizes_and_strides(sizes, {strides, sizes.size()}, 0);
  }
  return t;
}

}  // namespace

Tensor convolution(const Tensor& input, const Tensor& weight,
                   const std::optional<Tensor>& bias, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation, bool transposed,
                   IntArrayRef output_padding, int64_t groups) {
  const Dims sizes = convolution_sizes(
      "convolution", input, weight, bias.value_or(Tensor()),
      {stride, padding, dilation, transposed, output_padding, groups});
  return empty_in(input, sizes, convolution_format(input, weight));
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(
    const Tensor& grad_output, const Tensor& input, const Tensor& weight,
    OptionalIntArrayRef, IntArrayRef stride, IntArrayRef padding,
    IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
    int64_t groups, ArrayRef<bool> output_mask) {
  const Dims sizes = convolution_sizes(
      "convolution_backward", input, weight, Tensor(),
      {stride, padding, dilation, transposed, output_padding, groups});
  check_convolution_grad(grad_output, input, sizes);
  Tensor by_input, by_weight, by_bias;
  if (output_mask[0]) {
    by_input =
        empty_in(input, input.sizes(), convolution_format(input, weight));
  }
  if (output_mask[1]) {
    by_weight =
        empty_in(weight, weight.sizes(), weight.suggest_memory_format());
  }
  if (output_mask[2]) {
    by_bias = empty_in(input, IntArrayRef(sizes).slice(1, 1),
                       MemoryFormat::Contiguous);
  }
  return {by_input, by_weight, by_bias};
}

}  // namespace sy::meta
