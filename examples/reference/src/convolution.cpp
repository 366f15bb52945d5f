#include <algorithm>

#include "aten/contract/convolution.h"
#include "elements.h"
#include "primitive.h"
#include "reference_kernels.h"

namespace reference {
namespace {

int64_t number(IntArrayRef list, size_t d) {
  return list[list.size() == 1 ? 0 : d];
}

// input: N, Cin, ...; weight: Cout, Cin / groups, ... . A transposed one goes
// from its result to its input: `small` is where windows are counted, `large`
// where they lie.
struct Geometry {
  IntArrayRef stride, padding, dilation;
  int64_t groups;

  // f(place in small, place in large, place in weight) for every product of a
  // convolution from `large` to `small`.
  template <class F>
  void products(const Tensor& small, const Tensor& large, const Tensor& weight,
                const F& f) const {
    const auto dims = static_cast<size_t>(weight.dim());
    const int64_t per_group = small.size(1) / groups;
    Index kernel = weight.sizes().vec();
    kernel[0] = 1;
    for_each_place(small.sizes(), [&](const Index& at) {
      const int64_t group = at[1] / std::max<int64_t>(per_group, 1);
      for_each_place(kernel, [&](const Index& k) {
        Index from = at, w = k;
        w[0] = at[1];
        from[1] = group * kernel[1] + k[1];
        for (size_t d = 2; d < dims; ++d) {
          from[d] = at[d] * number(stride, d - 2) - number(padding, d - 2) +
                    k[d] * number(dilation, d - 2);
          if (from[d] < 0 || from[d] >= large.sizes()[d]) return;
        }
        f(at, from, w);
      });
    });
  }
};

// Sums are made in double, or of whole numbers in int64, to be rounded once.
Tensor zeros(IntArrayRef sizes, const Tensor& like) {
  const bool whole = !sy::is_floating_type(like.scalar_type());
  const Tensor out =
      empty(sizes, whole ? sy::kLong : sy::kDouble, like.device());
  for_each_place(sizes, [&](const Index& at) { write(out, at, int64_t{0}); });
  return out;
}

void add_to(const Tensor& sum, const Index& at, const Tensor& t,
            const Index& from) {
  if (sum.scalar_type() == sy::kLong) {
    write(sum, at, add(read<int64_t>(sum, at), read<int64_t>(t, from)));
  } else {
    write(sum, at, read<double>(sum, at) + read<double>(t, from));
  }
}

// sum[at] += a[i] * b[j]
void add_product(const Tensor& sum, const Index& at, const Tensor& a,
                 const Index& i, const Tensor& b, const Index& j) {
  if (sum.scalar_type() == sy::kLong) {
    write(sum, at,
          add(read<int64_t>(sum, at),
              mul(read<int64_t>(a, i), read<int64_t>(b, j))));
  } else {
    write(sum, at,
          read<double>(sum, at) + read<double>(a, i) * read<double>(b, j));
  }
}

Tensor rounded(const Tensor& sum, ScalarType dtype) { return sum.to(dtype); }

Tensor to_small(const Geometry& g, const Tensor& large, const Tensor& weight,
                const Tensor& sum) {
  g.products(sum, large, weight,
             [&](const Index& s, const Index& l, const Index& w) {
               add_product(sum, s, large, l, weight, w);
             });
  return sum;
}

Tensor to_large(const Geometry& g, const Tensor& small, const Tensor& weight,
                const Tensor& sum) {
  g.products(small, sum, weight,
             [&](const Index& s, const Index& l, const Index& w) {
               add_product(sum, l, small, s, weight, w);
             });
  return sum;
}

Tensor to_weight(const Geometry& g, const Tensor& small, const Tensor& large,
                 const Tensor& weight) {
  const Tensor sum = zeros(weight.sizes(), weight);
  g.products(small, large, weight,
             [&](const Index& s, const Index& l, const Index& w) {
               add_product(sum, w, small, s, large, l);
             });
  return sum;
}

}  // namespace

Tensor convolution(const Tensor& input, const Tensor& weight,
                   const std::optional<Tensor>& bias, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation, bool transposed,
                   IntArrayRef output_padding, int64_t groups) {
  const Geometry g{stride, padding, dilation, groups};
  const sy::ConvolutionArgs args{stride,     padding,        dilation,
                                 transposed, output_padding, groups};
  const sy::Dims sizes = sy::convolution_sizes("convolution", input, weight,
                                               bias.value_or(Tensor()), args);
  const Tensor sum = zeros(sizes, input);
  transposed ? to_large(g, input, weight, sum)
             : to_small(g, input, weight, sum);
  if (bias && bias->defined()) {
    for_each_place(sum.sizes(), [&](const Index& at) {
      add_to(sum, at, *bias, Index{at[1]});
    });
  }
  return rounded(sum, input.scalar_type());
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(
    const Tensor& grad_output, const Tensor& input, const Tensor& weight,
    sy::OptionalIntArrayRef, IntArrayRef stride, IntArrayRef padding,
    IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
    int64_t groups, sy::ArrayRef<bool> output_mask) {
  const sy::ConvolutionArgs args{stride,     padding,        dilation,
                                 transposed, output_padding, groups};
  const sy::Dims sizes = sy::convolution_sizes("convolution_backward", input,
                                               weight, Tensor(), args);
  sy::check_convolution_grad(grad_output, input, sizes);
  const Geometry g{stride, padding, dilation, groups};
  Tensor by_input, by_weight, by_bias;
  if (output_mask[0]) {
    const Tensor sum = zeros(input.sizes(), input);
    by_input = rounded(transposed ? to_small(g, grad_output, weight, sum)
                                  : to_large(g, grad_output, weight, sum),
                       input.scalar_type());
  }
  if (output_mask[1]) {
    by_weight = rounded(transposed ? to_weight(g, input, grad_output, weight)
                                   : to_weight(g, grad_output, input, weight),
                        weight.scalar_type());
  }
  if (output_mask[2]) {
    const int64_t channels[] = {grad_output.size(1)};
    const Tensor sum = zeros(channels, weight);
    for_each_place(grad_output.sizes(), [&](const Index& at) {
      add_to(sum, Index{at[1]}, grad_output, at);
    });
    by_bias = rounded(sum, weight.scalar_type());
  }
  return {by_input, by_weight, by_bias};
}

}  // namespace reference
