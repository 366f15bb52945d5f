#pragma once

#include <sy/library.h>
#include <sy/sy.h>

#include <cmath>
#include <cstdint>
#include <string_view>

// What the operators on boxes of images share. Elements are computed in float64
// if they are float64, else in float32.

namespace vision {

using sy::Tensor;

// Calls f.operator()<T>() for the type in which elements of t are computed.
template <class F>
void visit(const Tensor& t, const F& f) {
  if (t.scalar_type() == sy::kDouble) {
    f.template operator()<double>();
  } else {
    f.template operator()<float>();
  }
}

template <class T>
constexpr sy::ScalarType kTypeOf =
    std::is_same_v<T, double> ? sy::kDouble : sy::kFloat;

// The elements of t in row-major order. It keeps the memory.
template <class T>
class Elements {
 public:
  explicit Elements(const Tensor& t) : t_(t.to(kTypeOf<T>).contiguous()) {}
  const T* data() const { return static_cast<const T*>(t_.data_ptr()); }
  const T& operator[](int64_t i) const { return data()[i]; }

 private:
  Tensor t_;
};

// Room for the elements of a result, which begin as 0. store() puts them into
// the result, unless the room is its memory.
template <class T>
class Room {
 public:
  explicit Room(const Tensor& out)
      : out_(out),
        t_(out.scalar_type() == kTypeOf<T> && out.is_contiguous()
               ? out
               : sy::empty(out.sizes(), out.options().dtype(kTypeOf<T>))) {
    t_.zero_();
  }
  T* data() const { return static_cast<T*>(t_.data_ptr()); }
  void store() const {
    if (!t_.is_same(out_)) Tensor(out_).copy_(t_);
  }

 private:
  Tensor out_;
  Tensor t_;
};

// A batch of images: [images, channels, height, width].
struct Batch {
  int64_t images, channels, height, width;

  int64_t plane() const { return height * width; }
};

inline Batch batch_of(const Tensor& t) {
  return {t.size(0), t.size(1), t.size(2), t.size(3)};
}

// One row of rois: an image and the corners of a box in its coordinates.
template <class T>
struct Box {
  int64_t image;
  T x1, y1, x2, y2;
};

// Row k of rois, in coordinates of the feature map. Throws ValueError if there
// is no such image.
template <class T>
Box<T> box_at(std::string_view op, const Elements<T>& rois, int64_t k, T scale,
              int64_t images) {
  const T* const row = rois.data() + 5 * k;
  SY_CHECK(row[0] >= 0 && row[0] < static_cast<T>(images), Value,
           "[torchvision::{}] rois: expected an image from 0 to {} in row {}, "
           "got {}",
           op, images - 1, k, row[0]);
  return {static_cast<int64_t>(row[0]), row[1] * scale, row[2] * scale,
          row[3] * scale, row[4] * scale};
}

// A whole number near x, which may be beyond all bounds or NaN.
template <class T>
int64_t whole(T x) {
  constexpr T kMost = T(1 << 30);
  if (!(x > -kMost)) return -(1 << 30);
  return x < kMost ? static_cast<int64_t>(x) : 1 << 30;
}

}  // namespace vision
