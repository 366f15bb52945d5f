#include <numbers>

#include "aten/ops/factory.h"
#include "aten/ops/special.h"
#include "aten/ops/window_kernels.h"

namespace sy::composite {

namespace {

using std::numbers::pi;

// f of (the numbers from 0 on, their number): a window of n elements, of which
// the last is left out of one that is periodic. Short dtypes are computed in
// float32, since they have few whole numbers.
template <class F>
Tensor window(const char* op, int64_t n, bool periodic,
              const TensorOptions& options, const F& f) {
  SY_CHECK(n >= 0 && n < INT64_MAX, Value,
           "[{}] window_length: expected a non-negative number, got {}", op, n);
  SY_CHECK(is_floating_type(options.dtype()), Type,
           "[{}] dtype: expected a floating dtype, got {}", op,
           options.dtype());
  if (n == 0) return sy::empty({0}, options);
  if (n == 1) return sy::ones({1}, options);
  const int64_t whole = periodic ? n + 1 : n;
  const bool is_short = is_reduced_floating_type(options.dtype());
  const TensorOptions wide = is_short ? options.dtype(kFloat) : options;
  Tensor w = f(sy::arange(whole, wide), static_cast<double>(whole - 1));
  if (is_short) w = w.to(options.dtype());
  return periodic ? w.narrow(0, 0, n) : w;
}

TensorOptions gather(std::optional<ScalarType> dtype,
                     std::optional<Layout> layout, std::optional<Device> device,
                     std::optional<bool> pin_memory) {
  return TensorOptions()
      .dtype(dtype.value_or(default_dtype()))
      .layout(layout)
      .device(device)
      .pinned_memory(pin_memory);
}

}  // namespace

Tensor hamming_window_alpha_beta(int64_t n, bool periodic, double alpha,
                                 double beta, std::optional<ScalarType> dtype,
                                 std::optional<Layout> layout,
                                 std::optional<Device> device,
                                 std::optional<bool> pin_memory) {
  return window("hamming_window", n, periodic,
                gather(dtype, layout, device, pin_memory),
                [&](Tensor x, double last) {
                  return x.mul_(2 * pi / last).cos_().mul_(-beta).add_(alpha);
                });
}

Tensor hamming_window_alpha(int64_t n, bool periodic, double alpha,
                            std::optional<ScalarType> dtype,
                            std::optional<Layout> layout,
                            std::optional<Device> device,
                            std::optional<bool> pin_memory) {
  return hamming_window_alpha_beta(n, periodic, alpha, 0.46, dtype, layout,
                                   device, pin_memory);
}

Tensor hamming_window_periodic(int64_t n, bool periodic,
                               std::optional<ScalarType> dtype,
                               std::optional<Layout> layout,
                               std::optional<Device> device,
                               std::optional<bool> pin_memory) {
  return hamming_window_alpha_beta(n, periodic, 0.54, 0.46, dtype, layout,
                                   device, pin_memory);
}

Tensor hann_window_periodic(int64_t n, bool periodic,
                            std::optional<ScalarType> dtype,
                            std::optional<Layout> layout,
                            std::optional<Device> device,
                            std::optional<bool> pin_memory) {
  return hamming_window_alpha_beta(n, periodic, 0.5, 0.5, dtype, layout, device,
                                   pin_memory);
}

Tensor blackman_window_periodic(int64_t n, bool periodic,
                                std::optional<ScalarType> dtype,
                                std::optional<Layout> layout,
                                std::optional<Device> device,
                                std::optional<bool> pin_memory) {
  return window(
      "blackman_window", n, periodic, gather(dtype, layout, device, pin_memory),
      [](Tensor x, double last) {
        x.mul_(2 * pi / last);
        return x.mul(2).cos_().mul_(0.08).sub_(x.cos_().mul_(0.5)).add_(0.42);
      });
}

Tensor bartlett_window_periodic(int64_t n, bool periodic,
                                std::optional<ScalarType> dtype,
                                std::optional<Layout> layout,
                                std::optional<Device> device,
                                std::optional<bool> pin_memory) {
  return window("bartlett_window", n, periodic,
                gather(dtype, layout, device, pin_memory),
                [](Tensor x, double last) {
                  return x.mul_(2 / last).sub_(1).abs_().mul_(-1).add_(1);
                });
}

Tensor bartlett_window(int64_t n, std::optional<ScalarType> dtype,
                       std::optional<Layout> layout,
                       std::optional<Device> device,
                       std::optional<bool> pin_memory) {
  return bartlett_window_periodic(n, true, dtype, layout, device, pin_memory);
}

Tensor blackman_window(int64_t n, std::optional<ScalarType> dtype,
                       std::optional<Layout> layout,
                       std::optional<Device> device,
                       std::optional<bool> pin_memory) {
  return blackman_window_periodic(n, true, dtype, layout, device, pin_memory);
}

Tensor hann_window(int64_t n, std::optional<ScalarType> dtype,
                   std::optional<Layout> layout, std::optional<Device> device,
                   std::optional<bool> pin_memory) {
  return hann_window_periodic(n, true, dtype, layout, device, pin_memory);
}

Tensor hamming_window(int64_t n, std::optional<ScalarType> dtype,
                      std::optional<Layout> layout,
                      std::optional<Device> device,
                      std::optional<bool> pin_memory) {
  return hamming_window_periodic(n, true, dtype, layout, device, pin_memory);
}

Tensor kaiser_window_beta(int64_t n, bool periodic, double beta,
                          std::optional<ScalarType> dtype,
                          std::optional<Layout> layout,
                          std::optional<Device> device,
                          std::optional<bool> pin_memory) {
  return window("kaiser_window", n, periodic,
                gather(dtype, layout, device, pin_memory),
                [&](Tensor x, double last) {
                  x.mul_(2 / last).sub_(1);
                  const Tensor root = x.mul(x).mul_(-1).add_(1).clamp_min_(0);
                  const Tensor most = sy::scalar_tensor(beta, x.options());
                  return sy::i0(root.sqrt_().mul_(beta)).div_(sy::i0(most));
                });
}

Tensor kaiser_window_periodic(int64_t n, bool periodic,
                              std::optional<ScalarType> dtype,
                              std::optional<Layout> layout,
                              std::optional<Device> device,
                              std::optional<bool> pin_memory) {
  return kaiser_window_beta(n, periodic, 12, dtype, layout, device, pin_memory);
}

Tensor kaiser_window(int64_t n, std::optional<ScalarType> dtype,
                     std::optional<Layout> layout, std::optional<Device> device,
                     std::optional<bool> pin_memory) {
  return kaiser_window_periodic(n, true, dtype, layout, device, pin_memory);
}

}  // namespace sy::composite
