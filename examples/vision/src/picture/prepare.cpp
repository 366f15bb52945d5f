#include "picture/prepare.h"

#include <algorithm>
#include <cmath>

namespace vision {
namespace {

Tensor channels(std::initializer_list<float> numbers, const Tensor& like) {
  return sy::tensor(std::vector<float>(numbers))
      .view({3, 1, 1})
      .to(like.device());
}

}  // namespace

Tensor center_crop(const Tensor& picture, int64_t side) {
  const int64_t down = std::max<int64_t>(side - picture.size(1), 0);
  const int64_t right = std::max<int64_t>(side - picture.size(2), 0);
  const Tensor p = sy::constant_pad_nd(
      picture, {right / 2, (right + 1) / 2, down / 2, (down + 1) / 2}, 0);
  const auto first = [&](int64_t n) {
    return static_cast<int64_t>(
        std::nearbyint(static_cast<double>(n - side) / 2));
  };
  return p.narrow(1, first(p.size(1)), side).narrow(2, first(p.size(2)), side);
}

Tensor as_floats(const Tensor& picture) {
  return picture.to(sy::kFloat).div(255);
}

Tensor normalised(const Tensor& picture) {
  const Tensor x = as_floats(picture);
  return (x - channels({0.485F, 0.456F, 0.406F}, x)) /
         channels({0.229F, 0.224F, 0.225F}, x);
}

}  // namespace vision
