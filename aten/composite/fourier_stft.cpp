#include <cmath>
#include <numbers>

#include "aten/engine/guard.h"
#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/fourier_kernels.h"
#include "aten/ops/linalg.h"
#include "aten/ops/padding.h"

namespace sy::composite {

namespace {

// The given and the derived parameters of a call.
struct Windows {
  int64_t n_fft, hop, length;
  Tensor window;  // of n_fft elements; undefined: all ones
};

Windows windows_of(const Tensor& self, int64_t n_fft,
                   std::optional<int64_t> hop_length,
                   std::optional<int64_t> win_length,
                   const std::optional<Tensor>& window) {
  const Windows w{n_fft, hop_length.value_or(n_fft / 4),
                  win_length.value_or(n_fft), window.value_or(Tensor())};
  SY_CHECK(w.hop > 0, Value,
           "[stft] hop_length: expected a positive number, got {}", w.hop);
  SY_CHECK(w.length > 0 && w.length <= n_fft, Value,
           "[stft] win_length: expected 1 to n_fft, {}, got {}", n_fft,
           w.length);
  if (!w.window.defined()) return w;
  SY_CHECK(w.window.dim() == 1 && w.window.size(0) == w.length, Value,
           "[stft] window: expected {} numbers, got {}", w.length,
           describe(w.window));
  SY_CHECK(w.window.device() == self.device(), Value,
           "[stft] window: expected a tensor on {}, got {}", self.device(),
           describe(w.window));
  return w;
}

// Zeros on both sides of the window make it as long as n_fft.
Tensor full_window(const Windows& w, const Tensor& self) {
  if (w.length == w.n_fft) return w.window;
  const Tensor given =
      w.window.defined() ? w.window : sy::ones({w.length}, self.options());
  const int64_t left = (w.n_fft - w.length) / 2;
  return sy::constant_pad_nd(given, {left, w.n_fft - w.length - left});
}

// [n, 2 f]: cos(2 pi k i / n) at (i, 2 k), -sin(2 pi k i / n) at (i, 2 k + 1).
Tensor fourier_basis(int64_t n, int64_t frequencies, TensorOptions options) {
  const Tensor out = sy::empty({n, 2 * frequencies}, TensorOptions(kDouble));
  auto* p = static_cast<double*>(out.raw_data());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < frequencies; ++k) {
      // Takes whole turns away while the number is exact.
      const double turn = static_cast<double>(i * k % n) /
                          static_cast<double>(n) * 2 * std::numbers::pi;
      *p++ = std::cos(turn);
      *p++ = -std::sin(turn);
    }
  }
  return out.to(options);
}

void check_signal(const Tensor& self, std::optional<bool> return_complex) {
  SY_CHECK(self.is_floating_point(), Type,
           "[stft] self: expected a floating dtype, got {}", describe(self));
  SY_CHECK(self.dim() == 1 || self.dim() == 2, Value,
           "[stft] self: expected a signal or rows of them, got {}",
           describe(self));
  SY_CHECK(return_complex.has_value(), Value,
           "[stft] return_complex: expected False, got None");
}

void check_n_fft(int64_t n_fft, int64_t samples) {
  SY_CHECK(n_fft > 0 && n_fft <= samples, Value,
           "[stft] n_fft: expected 1 to the number of samples, {}, got {}",
           samples, n_fft);
}

// The transform of all windows along the signal, [..., frequency, window, 2].
Tensor transform(const Tensor& signal, const Windows& w, bool normalized,
                 bool onesided, bool return_complex) {
  check_n_fft(w.n_fft, signal.size(-1));
  SY_CHECK(!return_complex, NotImplemented,
           "[stft] return_complex: expected False, there is no complex dtype; "
           "the last dim of the result holds real and imaginary parts");
  Tensor frames = signal.unfold(-1, w.n_fft, w.hop);  // [..., t, n_fft]
  const Tensor weights = full_window(w, signal);
  if (weights.defined()) frames = frames * weights;
  const int64_t frequencies = onesided ? w.n_fft / 2 + 1 : w.n_fft;
  Tensor basis = fourier_basis(w.n_fft, frequencies, frames.options());
  if (normalized) {
    basis.mul_(Scalar(1 / std::sqrt(static_cast<double>(w.n_fft))));
  }
  const Tensor flat = sy::matmul(frames, basis);
  return flat.unflatten(-1, {frequencies, 2}).transpose(-2, -3);
}

}  // namespace

Tensor stft(const Tensor& self, int64_t n_fft,
            std::optional<int64_t> hop_length,
            std::optional<int64_t> win_length,
            const std::optional<Tensor>& window, bool normalized,
            std::optional<bool> onesided, std::optional<bool> return_complex,
            std::optional<bool> align_to_window) {
  check_signal(self, return_complex);
  const Windows w = windows_of(self, n_fft, hop_length, win_length, window);
  Tensor signal = self;
  if (align_to_window.value_or(false)) {
    const int64_t pad = (n_fft - w.length) / 2;
    signal = sy::constant_pad_nd(self, {pad, pad});
  }
  return transform(signal, w, normalized, onesided.value_or(true),
                   *return_complex);
}

Tensor stft_center(const Tensor& self, int64_t n_fft,
                   std::optional<int64_t> hop_length,
                   std::optional<int64_t> win_length,
                   const std::optional<Tensor>& window, bool center,
                   std::string_view pad_mode, bool normalized,
                   std::optional<bool> onesided,
                   std::optional<bool> return_complex,
                   std::optional<bool> align_to_window) {
  check_signal(self, return_complex);
  SY_CHECK(!center || !align_to_window.has_value(), Value,
           "[stft] align_to_window: expected None where center holds, got {}",
           align_to_window.value_or(false));
  if (!center) {
    return composite::stft(self, n_fft, hop_length, win_length, window,
                           normalized, onesided, return_complex,
                           align_to_window);
  }
  SY_CHECK(n_fft > 0 && n_fft / 2 < self.size(-1), Value,
           "[stft] n_fft: expected 1 to less than twice the number of samples, "
           "{}, got {}",
           self.size(-1), n_fft);
  const Windows w = windows_of(self, n_fft, hop_length, win_length, window);
  const bool row = self.dim() == 1;
  const Tensor rows = row ? self.unsqueeze(0) : self;
  const Tensor padded =
      sy::pad(rows.unsqueeze(0), {n_fft / 2, n_fft / 2}, pad_mode).squeeze(0);
  return transform(row ? padded.squeeze(0) : padded, w, normalized,
                   onesided.value_or(true), *return_complex);
}

}  // namespace sy::composite
