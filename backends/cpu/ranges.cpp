#include <cmath>

#include "aten/composite/ranges.h"
#include "backends/cpu/ranges_kernels_gen.h"
#include "backends/cpu/support/dtype_switch.h"
#include "backends/cpu/support/fill_ranges.h"

namespace sy::cpu {

namespace {

template <class T>
using Exact = std::conditional_t<std::is_same_v<T, double>, double, float>;

// A number that was computed in double, as an element of type T holds it.
template <class T>
auto stored(double v) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<int64_t>(v);
  } else {
    return static_cast<Exact<T>>(v);
  }
}

// A bound as the dtype holds it: whole for whole numbers.
template <class T>
double bound(const Scalar& s) {
  const double v = s.to_double();
  return std::is_integral_v<T> && std::isfinite(v) ? std::trunc(v) : v;
}

}  // namespace

Tensor& logspace_out(const Scalar& start, const Scalar& end, int64_t steps,
                     double base, Tensor& out) {
  SY_CHECK(steps >= 0, Value, "[logspace] steps: expected at least 0, got {}",
           steps);
  resize_vector("logspace", out, steps);
  visit_all_dtypes("logspace", out.dtype(), [&]<class T>() {
    const double a = bound<T>(start), b = bound<T>(end);
    const double step =
        steps > 1 ? (b - a) / static_cast<double>(steps - 1) : 0;
    // Elements count from both ends, so that the last one is the power of
    // `end`.
    generate<T>(out, [=](int64_t i) {
      const double exponent =
          i < steps / 2 || steps == 1
              ? a + step * static_cast<double>(i)
              : b - step * static_cast<double>(steps - 1 - i);
      return stored<T>(std::pow(base, exponent));
    });
  });
  return out;
}

Tensor& range_out(const Scalar& start, const Scalar& end, const Scalar& step,
                  Tensor& out) {
  resize_vector("range", out, range_size(start, end, step, out));
  visit_all_dtypes("range", out.dtype(), [&]<class T>() {
    const double first = bound<T>(start), by = bound<T>(step);
    generate<T>(out, [=](int64_t i) {
      return stored<T>(first + static_cast<double>(i) * by);
    });
  });
  return out;
}

}  // namespace sy::cpu
