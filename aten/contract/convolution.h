#pragma once

#include <optional>

#include "aten/engine/dims.h"
#include "aten/tensor.h"

// The geometry of convolutions, for kernels of every backend.

namespace sy {

// Arguments of `convolution`. Lists of one element stand for every dim.
struct ConvolutionArgs {
  IntArrayRef stride, padding, dilation;
  bool transposed;
  IntArrayRef output_padding;
  int64_t groups;
};

// The sizes of the result of a convolution of `input` and `weight`. Checks
// dtypes, ranks, channels and the numbers of `args`. `bias` may be undefined.
// Throws ValueError, TypeError "[op] argument: expected X, got Y".
SY_API Dims convolution_sizes(const char* op, const Tensor& input,
                              const Tensor& weight, const Tensor& bias,
                              const ConvolutionArgs& args);

// Checks that grad_output has `sizes`, those of the result, and the dtype of
// input.
SY_API void check_convolution_grad(const Tensor& grad_output,
                                   const Tensor& input, IntArrayRef sizes);

// A convolution that is not transposed: of x (batch, in, x[0], x[1], x[2]) with
// w (out, in / groups, kernel...) to y (batch, out, y...). A transposed
// convolution is the derivative of such a convolution with respect to x. Dims
// that the tensors do not have come first, with size 1.
struct ConvolutionGeometry {
  static constexpr int kDims = 3;
  int64_t dims;  // how many the tensors have, 1 to 3
  int64_t batch, in, out, groups;
  int64_t x[kDims], y[kDims], kernel[kDims];
  int64_t stride[kDims], padding[kDims], dilation[kDims];

  int64_t group_in() const { return in / groups; }
  int64_t group_out() const { return out / groups; }
  int64_t x_places() const { return x[0] * x[1] * x[2]; }
  int64_t y_places() const { return y[0] * y[1] * y[2]; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t row() const { return group_in() * taps(); }
  // The number of multiplications; at most int64's largest number.
  int64_t work() const;
};

// For tensors that were checked. x is the larger side: the input, or the result
// of a transposed convolution.
SY_API ConvolutionGeometry convolution_geometry(IntArrayRef x_sizes,
                                                IntArrayRef y_sizes,
                                                IntArrayRef weight_sizes,
                                                const ConvolutionArgs& args);

// The result of a convolution, or the gradient of its input, of these sizes,
// not filled. Its channels are last if those of input or weight are.
SY_API Tensor new_convolution_result(const Tensor& input, const Tensor& weight,
                                     IntArrayRef sizes);
// The gradient of the weight, not filled, in the weight's memory format.
SY_API Tensor new_convolution_weight(const Tensor& weight);

}  // namespace sy
