// Evenly spaced numbers, made of arange and computed in double: for backends
// that have no kernels of their own for them.

#include <cmath>

#include "aten/composite/ranges.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/factory_kernels.h"
#include "aten/ops/math.h"
#include "aten/ops/ranges_kernels.h"
#include "aten/ops/tensor_info.h"

namespace sy::composite {

namespace {

// What `out` holds of numbers in double; whole ones are cut, not rounded.
void store(const Tensor& numbers, Tensor& out) {
  out.resize_(numbers.sizes());
  out.copy_(is_floating_type(out.scalar_type()) ? numbers : numbers.to(kLong));
}

Tensor steps_of(int64_t n, const Tensor& out) {
  return sy::arange(n, out.options().dtype(kDouble));
}

// From both ends, so that the last number is `b`; the first `head` from `a`.
Tensor between(double a, double b, int64_t steps, int64_t head,
               const Tensor& out) {
  const Tensor i = steps_of(steps, out);
  const double step = steps > 1 ? (b - a) / static_cast<double>(steps - 1) : 0;
  return sy::where(i < Scalar(head), i * step + a, b - (steps - 1 - i) * step);
}

// A bound as the dtype holds it: whole for whole numbers.
double bound(const Scalar& s, const Tensor& out) {
  const double v = s.to_double();
  const bool whole = !is_floating_type(out.scalar_type()) && std::isfinite(v);
  return whole ? std::trunc(v) : v;
}

}  // namespace

Tensor& linspace_by_arange(const Scalar& start, const Scalar& end,
                           int64_t steps, Tensor& out) {
  SY_CHECK(steps >= 0, Value, "[linspace] steps: expected at least 0, got ",
           steps);
  store(
      between(start.to_double(), end.to_double(), steps, (steps + 1) / 2, out),
      out);
  return out;
}

Tensor& logspace_by_arange(const Scalar& start, const Scalar& end,
                           int64_t steps, double base, Tensor& out) {
  SY_CHECK(steps >= 0, Value, "[logspace] steps: expected at least 0, got ",
           steps);
  const int64_t head = steps == 1 ? 1 : steps / 2;
  const Tensor exponents =
      between(bound(start, out), bound(end, out), steps, head, out);
  store(sy::pow(Scalar(base), exponents), out);
  return out;
}

Tensor& range_by_arange(const Scalar& start, const Scalar& end,
                        const Scalar& step, Tensor& out) {
  const int64_t n = range_size(start, end, step, out);
  store(steps_of(n, out) * bound(step, out) + bound(start, out), out);
  return out;
}

}  // namespace sy::composite
