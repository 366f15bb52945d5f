// Layers that bring rows or groups to one scale, made of means: for backends
// that have no kernels of their own for them. Narrow floats are computed in
// float32.

#include <tuple>

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/copy.h"
#include "aten/ops/math.h"
#include "aten/ops/normalization.h"
#include "aten/ops/normalization_kernels.h"
#include "aten/ops/reduction.h"
#include "aten/ops/view.h"

namespace sy::native {

namespace {

using Three = std::tuple<Tensor, Tensor, Tensor>;
using Optional = std::optional<Tensor>;

Tensor widened(const Tensor& t) {
  return is_reduced_floating_type(t.scalar_type()) ? t.to(kFloat) : t;
}

struct Scaled {
  Tensor rows, mean, rstd;
};

Scaled scaled(const Tensor& x, IntArrayRef dims, double eps) {
  const Tensor mean = sy::mean(x, dims, true);
  const Tensor centred = x - mean;
  const Tensor rstd =
      sy::rsqrt(sy::mean(sy::square(centred), dims, true) + eps);
  return {centred * rstd, mean, rstd};
}

// times weight plus bias, as far as they are there, brought to `sizes`.
Tensor affine(Tensor rows, const Optional& weight, const Optional& bias,
              IntArrayRef sizes) {
  if (weight && weight->defined()) {
    rows = rows * widened(*weight).to(rows.scalar_type()).reshape(sizes);
  }
  if (bias && bias->defined()) {
    rows = rows + widened(*bias).to(rows.scalar_type()).reshape(sizes);
  }
  return rows;
}

ScalarType statistics_dtype(const Tensor& input, const Optional& weight) {
  return weight && weight->defined() ? weight->scalar_type()
                                     : input.scalar_type();
}

}  // namespace

Three layer_norm_by_mean(const Tensor& input, IntArrayRef normalized_shape,
                         const Optional& weight, const Optional& bias,
                         double eps) {
  std::vector<int64_t> dims;
  for (size_t d = 0; d < normalized_shape.size(); ++d) {
    dims.push_back(-1 - static_cast<int64_t>(d));
  }
  const Scaled s = scaled(widened(input), dims, eps);
  const ScalarType dtype = statistics_dtype(input, weight);
  return {
      affine(s.rows, weight, bias, normalized_shape).to(input.scalar_type()),
      s.mean.to(dtype), s.rstd.to(dtype)};
}

Three group_norm_by_mean(const Tensor& input, const Optional& weight,
                         const Optional& bias, int64_t N, int64_t C,
                         int64_t HxW, int64_t group, double eps) {
  const int64_t last[] = {2};
  const Scaled s =
      scaled(widened(input).reshape({N, group, C / group * HxW}), last, eps);
  const ScalarType dtype = statistics_dtype(input, weight);
  std::vector<int64_t> channels(static_cast<size_t>(input.dim()), 1);
  channels[1] = C;
  return {affine(s.rows.reshape(input.sizes()), weight, bias, channels)
              .to(input.scalar_type()),
          s.mean.reshape({N, group}).to(dtype),
          s.rstd.reshape({N, group}).to(dtype)};
}

}  // namespace sy::native
