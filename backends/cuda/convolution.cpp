#include <algorithm>

#include "aten/backend/claims.h"
#include "aten/contract/convolution.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/dnn/convolution.h"
#include "backends/cuda/print/body.h"
#include "backends/cuda/runtime/launch.h"
#include "backends/cuda/support/product_cut.h"

// Convolutions by cuDNN, or by our own kernels: one for each of the three
// results, at any strides. Sums are made as those of products of matrices are.

namespace sy::cuda {

namespace {

constexpr int64_t kMostBlocks = 1 << 16;

// The strides of the last dims, at the end.
void set_strides(const Tensor& t, int64_t dims, long long* strides) {
  for (int64_t d = 0; d < dims; ++d) {
    strides[kSpaceDims - dims + d] =
        t.strides()[static_cast<size_t>(t.dim() - dims + d)];
  }
}

// Whether places, with the borders, can be counted in 32 bits.
bool is_narrow(const ConvolutionGeometry& g) {
  const auto fits = [](int64_t v) { return v < int64_t{1} << 30; };
  bool all = fits(g.group_in()) && fits(g.group_out());
  for (int d = 0; d < kSpaceDims; ++d) {
    int64_t last = 0;
    all = all && fits(g.x[d]) && fits(g.y[d]) && fits(g.stride[d]) &&
          fits(g.padding[d]) && fits(g.dilation[d]) &&
          fits((g.kernel[d] - 1) * g.dilation[d]) &&
          !__builtin_mul_overflow(g.y[d] - 1, g.stride[d], &last) && fits(last);
  }
  return all;
}

ConvolutionParams params_of(const Convolution& c) {
  const ConvolutionGeometry& g = c.g;
  ConvolutionParams p = {};
  p.groups = static_cast<int>(g.groups);
  p.group_in = static_cast<int>(g.group_in());
  p.group_out = static_cast<int>(g.group_out());
  for (int d = 0; d < kSpaceDims; ++d) {
    p.x_size[d] = static_cast<int>(g.x[d]);
    p.y_size[d] = static_cast<int>(g.y[d]);
    p.kernel[d] = static_cast<int>(g.kernel[d]);
    p.stride[d] = static_cast<int>(g.stride[d]);
    p.padding[d] = static_cast<int>(g.padding[d]);
    p.dilation[d] = static_cast<int>(g.dilation[d]);
  }
  set_strides(c.x, g.dims, p.x_stride);
  set_strides(c.y, g.dims, p.y_stride);
  set_strides(c.w, g.dims, p.w_stride);
  p.x_batch = c.x.strides()[0];
  p.x_channel = c.x.strides()[1];
  p.y_batch = c.y.strides()[0];
  p.y_channel = c.y.strides()[1];
  p.w_output = c.w.strides()[0];
  p.w_channel = c.w.strides()[1];
  p.x = c.x.raw_data();
  p.w = c.w.raw_data();
  p.y = c.y.raw_data();
  if (c.bias.defined()) {
    p.bias = c.bias.raw_data();
    p.bias_stride = c.bias.strides()[0];
  }
  return p;
}

void run(const Convolution& c, ConvolutionPart part) {
  const Tensor& out = c.made(part);
  if (out.numel() == 0 || dnn::convolve(c, part)) return;
  const ConvolutionGeometry& g = c.g;
  ConvolutionParams p = params_of(c);
  p.out = out.raw_data();
  const bool last_channels_x = p.x_channel == 1 && g.group_in() > 1;
  const bool last_channels_y = p.y_channel == 1 && g.group_out() > 1;
  ProductPlan plan;
  bool along_a = false, along_b = false;
  switch (part) {
    case ConvolutionPart::kForward:
      plan = plan_tiles(out, g.groups, g.batch * g.y_places(), g.group_out(),
                        g.row());
      along_b = true;
      break;
    case ConvolutionPart::kByInput:
      plan = plan_tiles(out, g.groups, g.batch * g.x_places(), g.group_in(),
                        g.group_out() * g.taps());
      break;
    case ConvolutionPart::kByWeight:
      plan = plan_tiles(out, g.groups, g.group_out(), g.row(),
                        g.batch * g.y_places());
      along_a = !last_channels_y;
      along_b = !last_channels_x;
      break;
  }
  p.cut = plan.cut;
  const char* const results[] = {"0", "1", "2"};
  const Define defines[] = {
      {"SY_ELEMENT", print::element_name(out.scalar_type())},
      {"SY_RESULT", results[static_cast<int>(part)]},
      {"SY_SIDE", "64"},
      {"SY_ALONG_A", along_a ? "1" : "0"},
      {"SY_ALONG_B", along_b ? "1" : "0"}};
  const int device = out.device().index();
  const auto start = [&](const char* name, const LaunchShape& shape) {
    launch(device, kernel(device, "convolution.cu", name, defines), shape, p,
           {&c.x, &c.w, &c.y, &c.bias, &plan.sums});
  };
  start("convolve", {{plan.blocks}, {256}});
  if (plan.cut.parts > 1) {
    start("add_parts", shape_for(out.numel(), 256, 1, kMostBlocks));
  }
}

}  // namespace

Tensor convolution(const Tensor& input, const Tensor& weight,
                   const std::optional<Tensor>& bias, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation, bool transposed,
                   IntArrayRef output_padding, int64_t groups) {
  const Tensor b = bias.value_or(Tensor());
  const ConvolutionPlan plan = plan_convolution(
      "convolution", input, weight, b,
      {stride, padding, dilation, transposed, output_padding, groups});
  if (is_narrow(plan.g)) return convolve(plan, input, weight, b, &run);
  return OnCpu<decltype(cuda::convolution)>{"aten::convolution"}(
      input, weight, bias, stride, padding, dilation, transposed,
      output_padding, groups);
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(
    const Tensor& grad_output, const Tensor& input, const Tensor& weight,
    OptionalIntArrayRef bias_sizes, IntArrayRef stride, IntArrayRef padding,
    IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
    int64_t groups, ArrayRef<bool> output_mask) {
  const ConvolutionPlan plan = plan_convolution(
      "convolution_backward", input, weight, Tensor(),
      {stride, padding, dilation, transposed, output_padding, groups});
  if (is_narrow(plan.g)) {
    return convolve_backward(plan, grad_output, input, weight, output_mask,
                             &run);
  }
  return OnCpu<decltype(cuda::convolution_backward)>{
      "aten::convolution_backward"}(grad_output, input, weight, bias_sizes,
                                    stride, padding, dilation, transposed,
                                    output_padding, groups, output_mask);
}

}  // namespace sy::cuda
