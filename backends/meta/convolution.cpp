#include "aten/contract/convolution.h"

#include "backends/meta/convolution_kernels_gen.h"

namespace sy::meta {

namespace {

void compute_nothing(const Convolution&, ConvolutionPart) {}

}  // namespace

Tensor convolution(const Tensor& input, const Tensor& weight,
                   const std::optional<Tensor>& bias, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation, bool transposed,
                   IntArrayRef output_padding, int64_t groups) {
  const Tensor b = bias.value_or(Tensor());
  return convolve(plan_convolution("convolution", input, weight, b,
                                   {stride, padding, dilation, transposed,
                                    output_padding, groups}),
                  input, weight, b, &compute_nothing);
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(
    const Tensor& grad_output, const Tensor& input, const Tensor& weight,
    OptionalIntArrayRef, IntArrayRef stride, IntArrayRef padding,
    IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
    int64_t groups, ArrayRef<bool> output_mask) {
  return convolve_backward(
      plan_convolution(
          "convolution_backward", input, weight, Tensor(),
          {stride, padding, dilation, transposed, output_padding, groups}),
      grad_output, input, weight, output_mask, &compute_nothing);
}

}  // namespace sy::meta
