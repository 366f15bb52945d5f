#include "test/backends/cuda/fake/dnn/convolve.h"

#include <vector>

#include "test/backends/cuda/fake/numbers.h"

namespace fake::dnn {

namespace {

Number number_of(int type) {
  switch (type) {
    case 0: return Number::kFloat32;
    case 1: return Number::kFloat64;
    case 2: return Number::kFloat16;
    default: return Number::kBrain16;
  }
}

double rounded(double value) {
  auto x = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x1000) & ~uint32_t{0x1fff};
  std::memcpy(&x, &bits, sizeof bits);
  return static_cast<double>(x);
}

}  // namespace

Convolution::Convolution(const Operation& o, bool rounds)
    : kind_(o.kind),
      type_(o.x->word(901)),
      space_(o.convolution->number(106)),
      rounds_(rounds),
      x_(tensor_of(*o.x)),
      w_(tensor_of(*o.w)),
      y_(tensor_of(*o.y)) {
  for (int64_t d = 0; d < kDims; ++d) {
    const int64_t i = d - (kDims - space_);
    stride_[d] = i < 0 ? 1 : o.convolution->number(103, i);
    padding_[d] = i < 0 ? 0 : o.convolution->number(105, i);
    dilation_[d] = i < 0 ? 1 : o.convolution->number(102, i);
  }
}

// The tensor with three dims of space: those that it does not have come first.
Convolution::Tensor Convolution::tensor_of(const Descriptor& d) const {
  Tensor t;
  for (int64_t i = 0; i < kDims + 2; ++i) {
    const int64_t own = i < 2 ? i : i - (kDims - space_);
    const bool is_absent = i >= 2 && own < 2;
    t.sizes[i] = is_absent ? 1 : d.number(902, own);
    t.strides[i] = is_absent ? 0 : d.number(903, own);
  }
  return t;
}

double Convolution::at(const void* data, int64_t i) const {
  const double value = read(data, i, number_of(type_));
  return rounds_ ? rounded(value) : value;
}

template <class F>
void Convolution::each(const F& f) const {
  const int64_t groups = x_.sizes[1] / w_.sizes[1];
  const int64_t group_out = w_.sizes[0] / groups;
  int64_t v[9];  // image, output, channel; places of y; taps
  const int64_t sizes[9] = {y_.sizes[0], w_.sizes[0], w_.sizes[1],
                            y_.sizes[2], y_.sizes[3], y_.sizes[4],
                            w_.sizes[2], w_.sizes[3], w_.sizes[4]};
  int64_t all = 1;
  for (const int64_t s : sizes) all *= s;
  for (int64_t n = 0; n < all; ++n) {
    int64_t rest = n;
    for (int d = 9; d-- > 0; rest /= sizes[d]) v[d] = rest % sizes[d];
    int64_t x = v[0] * x_.strides[0] +
                (v[1] / group_out * w_.sizes[1] + v[2]) * x_.strides[1];
    int64_t y = v[0] * y_.strides[0] + v[1] * y_.strides[1];
    int64_t w = v[1] * w_.strides[0] + v[2] * w_.strides[1];
    bool is_inside = true;
    for (int d = 0; d < kDims; ++d) {
      const int64_t place =
          v[3 + d] * stride_[d] - padding_[d] + v[6 + d] * dilation_[d];
      is_inside = is_inside && place >= 0 && place < x_.sizes[2 + d];
      x += place * x_.strides[2 + d];
      y += v[3 + d] * y_.strides[2 + d];
      w += v[6 + d] * w_.strides[2 + d];
    }
    if (is_inside) f(x, w, y);
  }
}

void Convolution::run(const void* x, const void* w, void* y) const {
  const Tensor& made = kind_ == kForward        ? y_
                       : kind_ == kBackwardData ? x_
                                                : w_;
  void* const out = kind_ == kForward        ? y
                    : kind_ == kBackwardData ? const_cast<void*>(x)
                                             : const_cast<void*>(w);
  int64_t last = 0;
  for (int i = 0; i < kDims + 2; ++i) {
    last += (made.sizes[i] - 1) * made.strides[i];
  }
  std::vector<double> sums(static_cast<size_t>(last + 1));
  each([&](int64_t ix, int64_t iw, int64_t iy) {
    switch (kind_) {
      case kForward:
        sums[static_cast<size_t>(iy)] += at(x, ix) * at(w, iw);
        break;
      case kBackwardData:
        sums[static_cast<size_t>(ix)] += at(y, iy) * at(w, iw);
        break;
      default: sums[static_cast<size_t>(iw)] += at(x, ix) * at(y, iy);
    }
  });
  int64_t count = 1;
  for (const int64_t s : made.sizes) count *= s;
  for (int64_t n = 0; n < count; ++n) {
    int64_t rest = n, place = 0;
    for (int d = kDims + 2; d-- > 0; rest /= made.sizes[d]) {
      place += rest % made.sizes[d] * made.strides[d];
    }
    write(out, place, number_of(type_), sums[static_cast<size_t>(place)]);
  }
}

}  // namespace fake::dnn
