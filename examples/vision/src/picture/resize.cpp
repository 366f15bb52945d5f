#include <algorithm>
#include <cmath>
#include <vector>

#include "picture/prepare.h"

// A mean of the pixels around each place, weighed by a triangle as wide as the
// step. sy::_upsample_bilinear2d_aa computes it, too. Here the sums go in the
// order of PyTorch's, rows first and with fma: the means of whole numbers often
// lie halfway between two, where the last bit decides how they are rounded.

namespace vision {
namespace {

// Element i of the result is made of elements from `first` on.
struct Taps {
  int64_t first;
  std::vector<float> weights;
};

std::vector<Taps> taps_of(int64_t from, int64_t to) {
  const float step = static_cast<float>(from) / static_cast<float>(to);
  const float reach = std::max(step, 1.F);
  const double narrow = 1 / reach;
  std::vector<Taps> out;
  for (int64_t i = 0; i < to; ++i) {
    const auto centre =
        static_cast<float>(double{step} * (static_cast<double>(i) + 0.5));
    const auto place = [](float x) { return static_cast<int64_t>(x + 0.5); };
    const int64_t first = std::max<int64_t>(place(centre - reach), 0);
    const int64_t last = std::min(place(centre + reach), from);
    Taps taps{first, {}};
    float total = 0;
    for (int64_t j = first; j < last; ++j) {
      const auto x = static_cast<float>(
          (static_cast<double>(static_cast<float>(j) - centre) + 0.5) * narrow);
      taps.weights.push_back(std::max(1 - std::fabs(x), 0.F));
      total += taps.weights.back();
    }
    for (float& w : taps.weights) w /= total;
    out.push_back(std::move(taps));
  }
  return out;
}

// Resizes the last dim but one of x [n, from, each] to `to`.
std::vector<float> resized(const std::vector<float>& x, int64_t n, int64_t from,
                           int64_t to, int64_t each) {
  const std::vector<Taps> taps = taps_of(from, to);
  std::vector<float> out(static_cast<size_t>(n * to * each));
  float* at = out.data();
  for (int64_t k = 0; k < n; ++k) {
    for (const Taps& t : taps) {
      const float* in = x.data() + (k * from + t.first) * each;
      for (size_t j = 0; j < t.weights.size(); ++j, in += each) {
        const float w = t.weights[j];
        for (int64_t i = 0; i < each; ++i) {
          at[i] = j == 0 ? w * in[i] : std::fma(w, in[i], at[i]);
        }
      }
      at += each;
    }
  }
  return out;
}

}  // namespace

Tensor resized_picture(const Tensor& picture, int64_t side) {
  const int64_t height = picture.size(1), width = picture.size(2);
  const int64_t shorter = std::min(height, width);
  if (shorter == side) return picture;
  const auto scaled = [&](int64_t n) {
    return n == shorter ? side
                        : static_cast<int64_t>(static_cast<double>(side * n) /
                                               static_cast<double>(shorter));
  };
  const Tensor bytes = picture.contiguous();
  const auto* const from = static_cast<const uint8_t*>(bytes.data_ptr());
  const int64_t h = scaled(height), w = scaled(width);
  std::vector<float> x(from, from + bytes.numel());
  x = resized(x, 3 * height, width, w, 1);
  x = resized(x, 3, height, h, w);
  const Tensor out = sy::empty({3, h, w}, sy::TensorOptions(sy::kByte));
  std::transform(
      x.begin(), x.end(), static_cast<uint8_t*>(out.data_ptr()),
      [](float v) { return static_cast<uint8_t>(std::nearbyint(v)); });
  return out;
}

}  // namespace vision
