#pragma once

#include <optional>
#include <tuple>

#include "aten/engine/dims.h"
#include "aten/engine/widened.h"
#include "aten/operators.h"
#include "aten/ops/reduction.h"

// Shared by layers that normalize rows, groups or channels. Half and BFloat16
// are computed in float32.
namespace sy::composite::scaling {

using Three = std::tuple<Tensor, Tensor, Tensor>;
using Optional = std::optional<Tensor>;

inline bool given(const Optional& t) { return t && t->defined(); }

// `rows` times weight plus bias, if these are given. Both are reshaped to
// `sizes`.
inline Tensor affine(Tensor rows, const Optional& weight, const Optional& bias,
                     IntArrayRef sizes) {
  if (given(weight)) {
    rows = rows * widened(*weight).to(rows.scalar_type()).reshape(sizes);
  }
  if (given(bias)) {
    rows = rows + widened(*bias).to(rows.scalar_type()).reshape(sizes);
  }
  return rows;
}

inline ScalarType statistics_dtype(const Tensor& input,
                                   const Optional& weight) {
  return given(weight) ? weight->scalar_type() : input.scalar_type();
}

// The standardized input, for gradients. The dims `inner` form a row, and the
// statistics broadcast.
struct Standardized {
  Tensor scaled, rstd;  // scaled: (x - mean) * rstd
  Dims inner;
  bool centered;

  Standardized(const Tensor& input, const Optional& mean, const Tensor& r,
               const Dims& statistics, const Dims& inner_dims)
      : rstd(widened(r).reshape(statistics)),
        inner(inner_dims),
        centered(given(mean)) {
    const Tensor x = widened(input);
    scaled = (centered ? x - widened(*mean).reshape(statistics) : x) * rstd;
  }

  // The gradient of x. `g` is the gradient of `scaled`; the gradients of the
  // statistics may be absent.
  Tensor input_grad(const Tensor& g, const Optional& grad_mean,
                    const Optional& grad_rstd) const {
    Tensor d = g - scaled * sy::mean(g * scaled, inner, true);
    if (centered) d = d - sy::mean(g, inner, true);
    d = d * rstd;
    double count = 1;
    for (const int64_t dim : inner) {
      count *= static_cast<double>(scaled.size(dim));
    }
    if (given(grad_mean)) {
      d = d + widened(*grad_mean).reshape(rstd.sizes()) / Scalar(count);
    }
    if (given(grad_rstd)) {
      d = d - widened(*grad_rstd).reshape(rstd.sizes()) * rstd * rstd * scaled /
                  Scalar(count);
    }
    return d;
  }
};

}  // namespace sy::composite::scaling
