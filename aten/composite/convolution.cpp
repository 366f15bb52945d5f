#include "aten/contract/convolution.h"

#include "aten/ops/convolution.h"
#include "aten/ops/convolution_kernels.h"
#include "aten/ops/factory.h"
#include "aten/ops/linalg.h"
#include "aten/ops/padding.h"
#include "aten/ops/reduction.h"
#include "aten/ops/shape.h"

namespace sy::composite {

namespace {

using MaybeTensor = std::optional<Tensor>;

void check_rank(const char* op, const Tensor& input, int64_t dims) {
  SY_CHECK(input.dim() == dims + 1 || input.dim() == dims + 2, Value,
           "[{}] input: expected {} or {} dims, got {}", op, dims + 1, dims + 2,
           input.sizes());
}

// Calls f with the batch that a single input lacks.
template <class F>
Tensor batched(const char* op, const Tensor& input, int64_t dims, const F& f) {
  check_rank(op, input, dims);
  if (input.dim() == dims + 2) return f(input);
  return f(input.unsqueeze(0)).squeeze(0);
}

Tensor conv(const char* op, int64_t dims, const Tensor& input,
            const Tensor& weight, const MaybeTensor& bias, IntArrayRef stride,
            IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  return batched(op, input, dims, [&](const Tensor& x) {
    return sy::convolution(x, weight, bias, stride, padding, dilation, false, 0,
                           groups);
  });
}

Tensor conv_mode(const char* op, int64_t dims, const Tensor& input,
                 const Tensor& weight, const MaybeTensor& bias,
                 IntArrayRef stride, std::string_view padding,
                 IntArrayRef dilation, int64_t groups) {
  return batched(op, input, dims, [&](const Tensor& x) {
    return sy::_convolution_mode(x, weight, bias, stride, padding, dilation,
                                 groups);
  });
}

Tensor conv_transpose(const char* op, int64_t dims, const Tensor& input,
                      const Tensor& weight, const MaybeTensor& bias,
                      IntArrayRef stride, IntArrayRef padding,
                      IntArrayRef output_padding, int64_t groups,
                      IntArrayRef dilation) {
  return batched(op, input, dims, [&](const Tensor& x) {
    return sy::convolution(x, weight, bias, stride, padding, dilation, true,
                           output_padding, groups);
  });
}

// Pads to keep the size, half on each side; an odd element is added behind.
Tensor conv_same(const Tensor& input, const Tensor& weight,
                 const MaybeTensor& bias, IntArrayRef stride,
                 IntArrayRef dilation, int64_t groups) {
  constexpr int64_t kMost = int64_t{1} << 40;
  const int64_t dims = weight.dim() - 2;
  SY_CHECK(dims >= 1 && dims <= 3, Value,
           "[_convolution_mode] weight: expected 3 to 5 dims, got {}",
           weight.sizes());
  SY_CHECK(input.dim() == weight.dim(), Value,
           "[_convolution_mode] input: expected {} dims, as weight has, got {}",
           weight.dim(), input.sizes());
  SY_CHECK(
      dilation.size() == 1 || static_cast<int64_t>(dilation.size()) == dims,
      Value, "[_convolution_mode] dilation: expected 1 or {} numbers, got {}",
      dims, dilation);
  for (const int64_t s : stride) {
    SY_CHECK(
        s == 1, Value,
        "[_convolution_mode] stride: expected 1 with padding 'same', got {}",
        stride);
  }
  Dims padding, behind;
  behind.resize(2 * dims);
  bool uneven = false;
  for (int64_t d = 0; d < dims; ++d) {
    const int64_t step =
        dilation[dilation.size() == 1 ? 0 : static_cast<size_t>(d)];
    int64_t total = 0;
    SY_CHECK(
        step > 0 &&
            !__builtin_mul_overflow(step, weight.size(d + 2) - 1, &total) &&
            total >= 0 && total <= kMost,
        Value,
        "[_convolution_mode] dilation: expected positive numbers that spread "
        "kernels to at most 2^40, got {}",
        dilation);
    padding.push_back(total / 2);
    const int64_t k = 2 * (dims - 1 - d);
    behind[k] = 0;
    behind[k + 1] = total % 2;
    uneven |= total % 2 != 0;
  }
  const Tensor padded =
      uneven ? sy::constant_pad_nd(input, behind, Scalar(0)) : input;
  return sy::convolution(padded, weight, bias, stride, padding, dilation, false,
                         0, groups);
}

bool is_absent(const MaybeTensor& t) { return !t || !t->defined(); }

Tensor sum_of(const Tensor& a, const Tensor& b) {
  if (!a.defined()) return b;
  return b.defined() ? a.add(b) : a;
}

}  // namespace

Tensor convolution_mode(const Tensor& input, const Tensor& weight,
                        const MaybeTensor& bias, IntArrayRef stride,
                        std::string_view padding, IntArrayRef dilation,
                        int64_t groups) {
  if (padding == "same") {
    return conv_same(input, weight, bias, stride, dilation, groups);
  }
  SY_CHECK(padding == "valid", Value,
           "[_convolution_mode] padding: expected 'same' or 'valid', got '{}'",
           padding);
  return sy::convolution(input, weight, bias, stride, 0, dilation, false, 0,
                         groups);
}

Tensor conv1d(const Tensor& input, const Tensor& weight,
              const MaybeTensor& bias, IntArrayRef stride, IntArrayRef padding,
              IntArrayRef dilation, int64_t groups) {
  return conv("conv1d", 1, input, weight, bias, stride, padding, dilation,
              groups);
}

Tensor conv2d(const Tensor& input, const Tensor& weight,
              const MaybeTensor& bias, IntArrayRef stride, IntArrayRef padding,
              IntArrayRef dilation, int64_t groups) {
  return conv("conv2d", 2, input, weight, bias, stride, padding, dilation,
              groups);
}

Tensor conv3d(const Tensor& input, const Tensor& weight,
              const MaybeTensor& bias, IntArrayRef stride, IntArrayRef padding,
              IntArrayRef dilation, int64_t groups) {
  return conv("conv3d", 3, input, weight, bias, stride, padding, dilation,
              groups);
}

Tensor conv1d_padding(const Tensor& input, const Tensor& weight,
                      const MaybeTensor& bias, IntArrayRef stride,
                      std::string_view padding, IntArrayRef dilation,
                      int64_t groups) {
  return conv_mode("conv1d", 1, input, weight, bias, stride, padding, dilation,
                   groups);
}

Tensor conv2d_padding(const Tensor& input, const Tensor& weight,
                      const MaybeTensor& bias, IntArrayRef stride,
                      std::string_view padding, IntArrayRef dilation,
                      int64_t groups) {
  return conv_mode("conv2d", 2, input, weight, bias, stride, padding, dilation,
                   groups);
}

Tensor conv3d_padding(const Tensor& input, const Tensor& weight,
                      const MaybeTensor& bias, IntArrayRef stride,
                      std::string_view padding, IntArrayRef dilation,
                      int64_t groups) {
  return conv_mode("conv3d", 3, input, weight, bias, stride, padding, dilation,
                   groups);
}

Tensor conv_transpose1d(const Tensor& input, const Tensor& weight,
                        const MaybeTensor& bias, IntArrayRef stride,
                        IntArrayRef padding, IntArrayRef output_padding,
                        int64_t groups, IntArrayRef dilation) {
  return conv_transpose("conv_transpose1d", 1, input, weight, bias, stride,
                        padding, output_padding, groups, dilation);
}

Tensor conv_transpose2d(const Tensor& input, const Tensor& weight,
                        const MaybeTensor& bias, IntArrayRef stride,
                        IntArrayRef padding, IntArrayRef output_padding,
                        int64_t groups, IntArrayRef dilation) {
  return conv_transpose("conv_transpose2d", 2, input, weight, bias, stride,
                        padding, output_padding, groups, dilation);
}

Tensor conv_transpose3d(const Tensor& input, const Tensor& weight,
                        const MaybeTensor& bias, IntArrayRef stride,
                        IntArrayRef padding, IntArrayRef output_padding,
                        int64_t groups, IntArrayRef dilation) {
  return conv_transpose("conv_transpose3d", 3, input, weight, bias, stride,
                        padding, output_padding, groups, dilation);
}

// A convolution is linear in input and in weight, so each derivative is a
// convolution, or the derivative of one, of what flows back.
std::tuple<Tensor, Tensor, Tensor> convolution_double_backward(
    const MaybeTensor& ggI, const MaybeTensor& ggW, const MaybeTensor& ggb,
    const Tensor& gO, const Tensor& weight, const Tensor& self,
    IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
    bool transposed, IntArrayRef output_padding, int64_t groups,
    ArrayRef<bool> output_mask) {
  Tensor by_grad, by_input, by_weight;
  const auto forward = [&](const Tensor& x, const Tensor& w) {
    return sy::convolution(x, w, std::nullopt, stride, padding, dilation,
                           transposed, output_padding, groups);
  };
  const auto backward = [&](const Tensor& x, const Tensor& w, bool input) {
    return sy::convolution_backward(
        gO, x, w, std::nullopt, stride, padding, dilation, transposed,
        output_padding, groups, ArrayRef<bool>({input, !input, false}));
  };
  const bool has_input = !is_absent(ggI), has_weight = !is_absent(ggW);
  if (output_mask[0]) {
    if (has_input) by_grad = forward(*ggI, weight);
    if (has_weight) by_grad = sum_of(by_grad, forward(self, *ggW));
    if (!is_absent(ggb)) {
      Dims sizes;
      for (int64_t d = 0; d < gO.dim(); ++d) sizes.push_back(1);
      sizes[1] = ggb->numel();
      by_grad = sum_of(by_grad, ggb->reshape(sizes).expand(gO.sizes()));
    }
  }
  if (output_mask[1] && has_weight) {
    by_input = std::get<0>(backward(self, *ggW, true));
  }
  if (output_mask[2] && has_input) {
    by_weight = std::get<1>(backward(*ggI, weight, false));
  }
  return {by_grad, by_input, by_weight};
}

// One product for each tap, of steps that lie one after another.
std::tuple<Tensor, Tensor, Tensor> conv_tbc_backward(const Tensor& self,
                                                     const Tensor& input,
                                                     const Tensor& weight,
                                                     const Tensor& bias,
                                                     int64_t pad) {
  for (const Tensor* t : {&self, &input, &weight}) {
    SY_CHECK(t->dim() == 3, Value,
             "[conv_tbc_backward] self, input, weight: expected 3 dims, got {}",
             t->sizes());
  }
  SY_CHECK(pad >= 0 && pad <= (int64_t{1} << 40), Value,
           "[conv_tbc_backward] pad: expected a number from 0 to 2^40, got {}",
           pad);
  const int64_t taps = weight.size(0), in = input.size(2);
  const int64_t steps = self.size(0), out = self.size(2);
  SY_CHECK(input.size(0) <= (int64_t{1} << 40) &&
               steps == input.size(0) + 2 * pad - taps + 1 &&
               self.size(1) == input.size(1) && weight.size(1) == in &&
               weight.size(2) == out && bias.dim() == 1 && bias.size(0) == out,
           Value,
           "[conv_tbc_backward] self: expected the sizes that conv_tbc gives, "
           "got {}",
           self.sizes());
  const Tensor padded = sy::constant_pad_nd(input, {0, 0, 0, 0, pad, pad}, 0);
  const Tensor grad = self.reshape({-1, out});
  Tensor by_input = sy::zeros(padded.sizes(), padded.options());
  std::vector<Tensor> by_taps;
  for (int64_t k = 0; k < taps; ++k) {
    const Tensor rows = padded.narrow(0, k, steps).reshape({-1, in});
    by_taps.push_back(sy::mm(rows.t(), grad));
    const Tensor part =
        sy::mm(grad, weight.select(0, k).t()).reshape({steps, -1, in});
    by_input = by_input.add(sy::constant_pad_nd(
        part, {0, 0, 0, 0, k, padded.size(0) - steps - k}, 0));
  }
  return {by_input.narrow(0, pad, input.size(0)),
          taps == 0 ? sy::zeros(weight.sizes(), weight.options())
                    : sy::stack(by_taps),
          sy::sum(self, {0, 1})};
}

// For backends that have no kernel of their own.
Tensor conv_tbc_by_convolution(const Tensor& self, const Tensor& weight,
                               const Tensor& bias, int64_t pad) {
  const int64_t one[] = {1}, none[] = {0}, padding[] = {pad};
  return sy::convolution(self.permute({1, 2, 0}), weight.permute({2, 1, 0}),
                         bias, one, padding, one, false, none, 1)
      .permute({2, 0, 1})
      .contiguous();
}

}  // namespace sy::composite
