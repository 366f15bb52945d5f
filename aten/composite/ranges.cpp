#include "aten/composite/ranges.h"

#include <cmath>

#include "aten/engine/guard.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/factory.h"
#include "aten/ops/factory_kernels.h"
#include "aten/ops/ranges.h"
#include "aten/ops/ranges_kernels.h"
#include "aten/ops/ranges_ops.h"

namespace sy {

int64_t range_size(const Scalar& start, const Scalar& end, const Scalar& step,
                   const Tensor& out) {
  SY_CHECK(out.dtype() != kBool, Type,
           "[range] out: expected a dtype of numbers, got bool");
  const double a = start.to_double(), b = end.to_double(), s = step.to_double();
  SY_CHECK(s != 0 && !std::isnan(s), Value,
           "[range] step: expected a number other than 0, got {}", step);
  SY_CHECK(std::isfinite(a) && std::isfinite(b), Value,
           "[range] start, end: expected finite numbers, got {} and {}", start,
           end);
  SY_CHECK(
      s > 0 ? b >= a : b <= a, Value,
      "[range] end: expected a bound that steps of {} from {} reach, got {}",
      step, start, end);
  const double n = std::floor((b - a) / s) + 1;
  SY_CHECK(n >= 0 && n < 0x1p62, Value,
           "[range] end: expected fewer than 2^62 elements, got {}", n);
  return static_cast<int64_t>(n);
}

int64_t arange_size(const Scalar& start, const Scalar& end, const Scalar& step,
                    const Tensor& out) {
  SY_CHECK(out.dtype() != kBool, Type,
           "[arange] out: expected a dtype of numbers, got bool");
  const double d_step = step.to_double();
  const double d_start = start.to_double(), d_end = end.to_double();
  SY_CHECK(d_step != 0, Value,
           "[arange] step: expected a number other than 0, got 0");
  SY_CHECK(
      std::isfinite(d_start) && std::isfinite(d_end) && !std::isnan(d_step),
      Value, "[arange] start, end: expected finite numbers, got {} and {}",
      start, end);
  SY_CHECK(
      (d_step > 0) == (d_end >= d_start) || d_start == d_end, Value,
      "[arange] end: expected a bound that steps of {} from {} reach, got {}",
      step, start, end);
  double n;
  if (start.is_integral(true) && end.is_integral(true) &&
      step.is_integral(true)) {
    // Exact beyond 2^53 too.
    const __int128 span =
        static_cast<__int128>(end.to_long()) - start.to_long();
    const __int128 s = step.to_long();
    const __int128 whole = (span + s - (s > 0 ? 1 : -1)) / s;
    n = static_cast<double>(whole);
  } else {
    n = std::ceil((d_end - d_start) / d_step);
  }
  SY_CHECK(n >= 0 && n < 0x1p62, Value,
           "[arange] end: expected fewer than 2^62 elements, got {}", n);
  return static_cast<int64_t>(n);
}

namespace composite {

namespace {

// For a range of unknown length: its out= form gives it one.
Tensor no_elements(std::optional<ScalarType> dtype,
                   std::optional<Layout> layout, std::optional<Device> device,
                   std::optional<bool> pin_memory) {
  return sy::empty(
      {0},
      TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(
          pin_memory));
}

}  // namespace

Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps,
                double base, std::optional<ScalarType> dtype,
                std::optional<Layout> layout, std::optional<Device> device,
                std::optional<bool> pin_memory) {
  Tensor out = no_elements(dtype, layout, device, pin_memory);
  return sy::logspace_out(out, start, end, steps, base);
}

Tensor range_step(const Scalar& start, const Scalar& end, const Scalar& step,
                  std::optional<ScalarType> dtype, std::optional<Layout> layout,
                  std::optional<Device> device,
                  std::optional<bool> pin_memory) {
  Tensor out = no_elements(dtype, layout, device, pin_memory);
  return sy::range_out(out, start, end, step);
}

Tensor range(const Scalar& start, const Scalar& end,
             std::optional<ScalarType> dtype, std::optional<Layout> layout,
             std::optional<Device> device, std::optional<bool> pin_memory) {
  return range_step(start, end, 1, dtype, layout, device, pin_memory);
}

Tensor& range_out(const Scalar& start, const Scalar& end, Tensor& out) {
  sy::range_out(out, start, end, 1);
  name_writer(out, &ops::range_out_::entry());
  return out;
}

Tensor linspace_tensor_tensor(const Tensor& start, const Tensor& end,
                              int64_t steps, std::optional<ScalarType> dtype,
                              std::optional<Layout> layout,
                              std::optional<Device> device,
                              std::optional<bool> pin_memory) {
  return linspace(start.item(), end.item(), steps, dtype, layout, device,
                  pin_memory);
}

Tensor linspace_tensor_scalar(const Tensor& start, const Scalar& end,
                              int64_t steps, std::optional<ScalarType> dtype,
                              std::optional<Layout> layout,
                              std::optional<Device> device,
                              std::optional<bool> pin_memory) {
  return linspace(start.item(), end, steps, dtype, layout, device, pin_memory);
}

Tensor linspace_scalar_tensor(const Scalar& start, const Tensor& end,
                              int64_t steps, std::optional<ScalarType> dtype,
                              std::optional<Layout> layout,
                              std::optional<Device> device,
                              std::optional<bool> pin_memory) {
  return linspace(start, end.item(), steps, dtype, layout, device, pin_memory);
}

Tensor logspace_tensor_tensor(const Tensor& start, const Tensor& end,
                              int64_t steps, double base,
                              std::optional<ScalarType> dtype,
                              std::optional<Layout> layout,
                              std::optional<Device> device,
                              std::optional<bool> pin_memory) {
  return logspace(start.item(), end.item(), steps, base, dtype, layout, device,
                  pin_memory);
}

Tensor logspace_tensor_scalar(const Tensor& start, const Scalar& end,
                              int64_t steps, double base,
                              std::optional<ScalarType> dtype,
                              std::optional<Layout> layout,
                              std::optional<Device> device,
                              std::optional<bool> pin_memory) {
  return logspace(start.item(), end, steps, base, dtype, layout, device,
                  pin_memory);
}

Tensor logspace_scalar_tensor(const Scalar& start, const Tensor& end,
                              int64_t steps, double base,
                              std::optional<ScalarType> dtype,
                              std::optional<Layout> layout,
                              std::optional<Device> device,
                              std::optional<bool> pin_memory) {
  return logspace(start, end.item(), steps, base, dtype, layout, device,
                  pin_memory);
}

namespace {

Tensor steps_of(int64_t n, const Tensor& out) {
  return sy::arange(n, out.options().dtype(kDouble));
}

// A bound as the dtype holds it: whole for whole numbers.
double bound(const Scalar& s, const Tensor& out) {
  const double v = s.to_double();
  const bool whole = !is_floating_type(out.scalar_type()) && std::isfinite(v);
  return whole ? std::trunc(v) : v;
}

}  // namespace

// Stores numbers, which are in double, in `out`; whole dtypes cut them and do
// not round.
void store_numbers(const Tensor& numbers, Tensor& out) {
  out.resize_(numbers.sizes());
  out.copy_(is_floating_type(out.scalar_type()) ? numbers : numbers.to(kLong));
}

// Counts from both ends, so that the last number is `b`; the first `head` from
// `a`.
Tensor numbers_between(double a, double b, int64_t steps, int64_t head,
                       const Tensor& out) {
  const Tensor i = steps_of(steps, out);
  const double step = steps > 1 ? (b - a) / static_cast<double>(steps - 1) : 0;
  return sy::where(i < Scalar(head), i * step + a, b - (steps - 1 - i) * step);
}

// For backends that have no kernels of their own.
Tensor& logspace_by_arange(const Scalar& start, const Scalar& end,
                           int64_t steps, double base, Tensor& out) {
  SY_CHECK(steps >= 0, Value, "[logspace] steps: expected at least 0, got {}",
           steps);
  const int64_t head = steps == 1 ? 1 : steps / 2;
  const Tensor exponents =
      numbers_between(bound(start, out), bound(end, out), steps, head, out);
  store_numbers(sy::pow(Scalar(base), exponents), out);
  return out;
}

Tensor& range_by_arange(const Scalar& start, const Scalar& end,
                        const Scalar& step, Tensor& out) {
  const int64_t n = range_size(start, end, step, out);
  store_numbers(steps_of(n, out) * bound(step, out) + bound(start, out), out);
  return out;
}

}  // namespace composite
}  // namespace sy
