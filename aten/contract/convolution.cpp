#include "aten/contract/convolution.h"

#include <limits>

#include "aten/engine/copy.h"
#include "aten/ops/reduction.h"

namespace sy {

namespace {

constexpr int64_t kMost = int64_t{1} << 40;

int64_t at(IntArrayRef list, int64_t d) {
  return list[list.size() == 1 ? 0 : static_cast<size_t>(d)];
}

void check_amounts(const char* op, const char* name, IntArrayRef list,
                   int64_t dims, int64_t least) {
  SY_CHECK(list.size() == 1 || static_cast<int64_t>(list.size()) == dims, Value,
           "[{}] {}: expected 1 or {} numbers, got {}", op, name, dims, list);
  for (const int64_t v : list) {
    SY_CHECK(v >= least && v <= kMost, Value,
             "[{}] {}: expected numbers from {} to 2^40, got {}", op, name,
             least, list);
  }
}

void check_tensors(const char* op, const Tensor& input, const Tensor& weight,
                   const Tensor& bias) {
  SY_CHECK(input.dtype() != kBool, Type,
           "[{}] input: expected an integer or floating dtype, got bool", op);
  SY_CHECK(weight.dtype() == input.dtype(), Type,
           "[{}] weight: expected the dtype of input, {}, got {}", op,
           input.dtype(), weight.dtype());
  SY_CHECK(weight.dim() >= 3 && weight.dim() <= 5, Value,
           "[{}] weight: expected 3 to 5 dims, got {}", op, weight.sizes());
  SY_CHECK(input.dim() == weight.dim(), Value,
           "[{}] input: expected {} dims, as weight has, got {}", op,
           weight.dim(), input.sizes());
  if (bias.defined()) {
    SY_CHECK(bias.dtype() == input.dtype(), Type,
             "[{}] bias: expected the dtype of input, {}, got {}", op,
             input.dtype(), bias.dtype());
  }
}

// The result's channels.
int64_t check_channels(const char* op, const Tensor& input,
                       const Tensor& weight, const Tensor& bias,
                       const ConvolutionArgs& args) {
  const int64_t groups = args.groups;
  const int64_t first = weight.sizes()[0], second = weight.sizes()[1];
  SY_CHECK(groups > 0, Value, "[{}] groups: expected a positive number, got {}",
           op, groups);
  SY_CHECK(
      first >= groups && first % groups == 0, Value,
      "[{}] weight: expected a multiple of {} groups as its first size, got {}",
      op, groups, weight.sizes());
  SY_CHECK(second <= std::numeric_limits<int64_t>::max() / groups, Value,
           "[{}] groups: expected fewer than {}", op, groups);
  const int64_t in = args.transposed ? first : second * groups;
  const int64_t out = args.transposed ? second * groups : first;
  SY_CHECK(input.sizes()[1] == in, Value,
           "[{}] input: expected {} channels for a weight of {}, got {}", op,
           in, weight.sizes(), input.sizes());
  if (bias.defined()) {
    SY_CHECK(bias.dim() == 1 && bias.sizes()[0] == out, Value,
             "[{}] bias: expected sizes [{}], got {}", op, out, bias.sizes());
  }
  return out;
}

// kMost keeps these from overflowing but for sizes of tensors without
// elements, which are bounded too.
int64_t spread(int64_t kernel, int64_t dilation) {
  int64_t s = 0;
  if (__builtin_mul_overflow(kernel - 1, dilation, &s) || s > kMost) return -1;
  return s + 1;
}

Tensor new_in_format(const Tensor& like, IntArrayRef sizes,
                     MemoryFormat format) {
  const Tensor t(make_tensor(sizes, like.dtype(), like.device()));
  if (format != MemoryFormat::Contiguous) {
    int64_t strides[TensorImpl::kMaxDims];
    dense_strides_like(t, format, strides);
    t.impl()->set_sizes_and_strides(sizes, {strides, sizes.size()}, 0);
  }
  return t;
}

Tensor new_output(const Tensor& input, const Tensor& weight,
                  IntArrayRef sizes) {
  const MemoryFormat of_input = input.suggest_memory_format();
  return new_in_format(input, sizes,
                       of_input != MemoryFormat::Contiguous
                           ? of_input
                           : weight.suggest_memory_format());
}

}  // namespace

Dims convolution_sizes(const char* op, const Tensor& input,
                       const Tensor& weight, const Tensor& bias,
                       const ConvolutionArgs& args) {
  check_tensors(op, input, weight, bias);
  const int64_t dims = weight.dim() - 2;
  check_amounts(op, "stride", args.stride, dims, 1);
  check_amounts(op, "padding", args.padding, dims, 0);
  check_amounts(op, "dilation", args.dilation, dims, 1);
  check_amounts(op, "output_padding", args.output_padding, dims, 0);
  const int64_t out = check_channels(op, input, weight, bias, args);
  Dims sizes(input.sizes());
  sizes[1] = out;
  for (int64_t d = 0; d < dims; ++d) {
    const int64_t size = input.sizes()[static_cast<size_t>(d + 2)];
    const int64_t kernel = weight.sizes()[static_cast<size_t>(d + 2)];
    const int64_t s = at(args.stride, d), p = at(args.padding, d);
    SY_CHECK(kernel > 0, Value,
             "[{}] weight: expected kernel sizes of at least 1, got {}", op,
             weight.sizes());
    const int64_t reach = spread(kernel, at(args.dilation, d));
    SY_CHECK(reach > 0 && size <= kMost, Value,
             "[{}] input: expected sizes and kernels of at most 2^40, got {} "
             "and a weight of {}",
             op, input.sizes(), weight.sizes());
    if (!args.transposed) {
      SY_CHECK(reach <= size + 2 * p, Value,
               "[{}] weight: expected kernels within the padded input of {}, "
               "got {} in dim {}",
               op, size + 2 * p, reach, d + 2);
      sizes[d + 2] = (size + 2 * p - reach) / s + 1;
      continue;
    }
    const int64_t extra = at(args.output_padding, d);
    SY_CHECK(
        extra < s || extra < at(args.dilation, d), Value,
        "[{}] output_padding: expected less than stride or dilation, got {}",
        op, args.output_padding);
    int64_t whole = 0;
    const bool too_large =
        __builtin_mul_overflow(size - 1, s, &whole) || whole > kMost;
    const int64_t size_out = whole - 2 * p + reach + extra;
    SY_CHECK(!too_large && size_out > 0, Value,
             "[{}] input: expected sizes that give a result of 1 to 2^40, got "
             "{} with padding {}",
             op, input.sizes(), args.padding);
    sizes[d + 2] = size_out;
  }
  checked_numel(op, sizes, input.itemsize());
  return sizes;
}

void check_convolution_grad(const Tensor& grad_output, const Tensor& input,
                            IntArrayRef sizes) {
  SY_CHECK(grad_output.sizes() == sizes, Value,
           "[convolution_backward] grad_output: expected {}, the sizes of the "
           "result, got {}",
           sizes, grad_output.sizes());
  SY_CHECK(grad_output.dtype() == input.dtype(), Type,
           "[convolution_backward] grad_output: expected the dtype of input, "
           "{}, got {}",
           input.dtype(), grad_output.dtype());
}

int64_t ConvolutionGeometry::work() const {
  int64_t n = batch;
  for (const int64_t v : {out, y_places(), row()}) {
    if (__builtin_mul_overflow(n, v, &n)) {
      return std::numeric_limits<int64_t>::max();
    }
  }
  return n;
}

ConvolutionGeometry convolution_geometry(IntArrayRef x_sizes,
                                         IntArrayRef y_sizes,
                                         IntArrayRef weight_sizes,
                                         const ConvolutionArgs& args) {
  ConvolutionGeometry g;
  g.dims = static_cast<int64_t>(weight_sizes.size()) - 2;
  g.batch = x_sizes[0];
  g.in = x_sizes[1];
  g.out = y_sizes[1];
  g.groups = args.groups;
  const int64_t absent = ConvolutionGeometry::kDims - g.dims;
  for (int64_t d = 0; d < ConvolutionGeometry::kDims; ++d) {
    const int64_t k = d - absent;
    const auto i = static_cast<size_t>(k + 2);
    g.x[d] = k < 0 ? 1 : x_sizes[i];
    g.y[d] = k < 0 ? 1 : y_sizes[i];
    g.kernel[d] = k < 0 ? 1 : weight_sizes[i];
    g.stride[d] = k < 0 ? 1 : at(args.stride, k);
    g.padding[d] = k < 0 ? 0 : at(args.padding, k);
    g.dilation[d] = k < 0 ? 1 : at(args.dilation, k);
  }
  return g;
}

ConvolutionPlan plan_convolution(const char* op, const Tensor& input,
                                 const Tensor& weight, const Tensor& bias,
                                 const ConvolutionArgs& args) {
  const Dims sizes = convolution_sizes(op, input, weight, bias, args);
  const IntArrayRef large =
      args.transposed ? IntArrayRef(sizes) : input.sizes();
  const IntArrayRef small =
      args.transposed ? input.sizes() : IntArrayRef(sizes);
  return {args, sizes,
          convolution_geometry(large, small, weight.sizes(), args)};
}

Tensor convolve(const ConvolutionPlan& plan, const Tensor& input,
                const Tensor& weight, const Tensor& bias, RunConvolution run) {
  const bool transposed = plan.args.transposed;
  const Tensor result = new_output(input, weight, plan.sizes);
  const Tensor& x = transposed ? result : input;
  const Tensor& y = transposed ? input : result;
  run({plan.g, x, weight, y, bias},
      transposed ? ConvolutionPart::kByInput : ConvolutionPart::kForward);
  return result;
}

std::tuple<Tensor, Tensor, Tensor> convolve_backward(
    const ConvolutionPlan& plan, const Tensor& grad_output, const Tensor& input,
    const Tensor& weight, ArrayRef<bool> output_mask, RunConvolution run) {
  check_convolution_grad(grad_output, input, plan.sizes);
  const bool transposed = plan.args.transposed;
  const Tensor& large = transposed ? grad_output : input;
  const Tensor& small = transposed ? input : grad_output;
  Convolution c{plan.g, large, weight, small, {}, "convolution_backward"};
  Tensor by_input, by_weight, by_bias;
  if (output_mask[0]) {
    by_input = new_output(input, weight, input.sizes());
    (transposed ? c.y : c.x) = by_input;
    run(c, transposed ? ConvolutionPart::kForward : ConvolutionPart::kByInput);
    (transposed ? c.y : c.x) = input;
  }
  if (output_mask[1]) {
    by_weight =
        new_in_format(weight, weight.sizes(), weight.suggest_memory_format());
    c.w = by_weight;
    run(c, ConvolutionPart::kByWeight);
  }
  if (output_mask[2]) {
    Dims dims;
    for (int64_t d = 0; d < grad_output.dim(); ++d) {
      if (d != 1) dims.push_back(d);
    }
    by_bias = sy::sum(grad_output, IntArrayRef(dims), false, input.dtype());
  }
  return {by_input, by_weight, by_bias};
}

}  // namespace sy
