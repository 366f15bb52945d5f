#pragma once

#include <tuple>

#include "aten/engine/dims.h"
#include "aten/tensor.h"

// The geometry of convolutions, and the operators around what computes them,
// for kernels of every backend.

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

// The three computations of a convolution. Each writes one of x, w and y.
enum class ConvolutionPart : uint8_t {
  kForward,   // y from x and w
  kByInput,   // x: the derivative; y has the gradient
  kByWeight,  // w: the same
};

struct Convolution {
  ConvolutionGeometry g;
  // They have one dtype and any strides.
  Tensor x, w, y;
  // Added to the result of kForward and kByInput: one element for each channel
  // of it. May be undefined.
  Tensor bias;
  const char* op = "convolution";  // of messages

  // The tensor that the part writes.
  const Tensor& made(ConvolutionPart part) const {
    return part == ConvolutionPart::kForward   ? y
           : part == ConvolutionPart::kByInput ? x
                                               : w;
  }
};

// The arguments of `convolution` or `convolution_backward` once they are
// checked. Borrows the lists.
struct ConvolutionPlan {
  ConvolutionArgs args;
  Dims sizes;  // of the result
  ConvolutionGeometry g;
};
// Throws as convolution_sizes() does.
SY_API ConvolutionPlan plan_convolution(const char* op, const Tensor& input,
                                        const Tensor& weight,
                                        const Tensor& bias,
                                        const ConvolutionArgs& args);

// Computes a part into memory that is there. A backend without data does
// nothing.
using RunConvolution = void (*)(const Convolution& c, ConvolutionPart part);

// `convolution`. The channels of the result are last if those of input or
// weight are.
SY_API Tensor convolve(const ConvolutionPlan& plan, const Tensor& input,
                       const Tensor& weight, const Tensor& bias,
                       RunConvolution run);
// `convolution_backward`: the gradients of input, weight and bias that
// `output_mask` asks for, input and weight in their own memory formats. Throws
// unless grad_output has the sizes of the result and the dtype of input.
SY_API std::tuple<Tensor, Tensor, Tensor> convolve_backward(
    const ConvolutionPlan& plan, const Tensor& grad_output, const Tensor& input,
    const Tensor& weight, ArrayRef<bool> output_mask, RunConvolution run);

}  // namespace sy
