#include "aten/contract/convolution.h"

#include "aten/engine/guard.h"
#include "backends/meta/convolution_kernels_gen.h"

namespace sy::meta {

Tensor convolution(const Tensor& input, const Tensor& weight,
                   const std::optional<Tensor>& bias, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation, bool transposed,
                   IntArrayRef output_padding, int64_t groups) {
  const Dims sizes = convolution_sizes(
      "convolution", input, weight, bias.value_or(Tensor()),
      {stride, padding, dilation, transposed, output_padding, groups});
  return new_convolution_result(input, weight, sizes);
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
    by_input = new_convolution_result(input, weight, input.sizes());
  }
  if (output_mask[1]) {
    by_weight = new_convolution_weight(weight);
  }
  if (output_mask[2]) {
    by_bias = Tensor(make_tensor(IntArrayRef(sizes).slice(1, 1), input.dtype(),
                                 input.device()));
  }
  return {by_input, by_weight, by_bias};
}

}  // namespace sy::meta
