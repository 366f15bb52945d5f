#pragma once

#include <cstdint>

#include "aten/tensor.h"

// Batches of images, for kernels that work on their places. Images have one to
// three spatial dims, after the dims of the batch (which may be absent) and of
// channels.

namespace sy::cpu {

struct Images {
  Tensor t;  // dense, as `last` says
  int64_t images = 1, channels = 1;
  int64_t size[3] = {1, 1, 1};  // depth, height, width
  // The channels of a place are side by side in memory. If false, places are.
  bool last = false;

  int64_t places() const { return size[0] * size[1] * size[2]; }
  int64_t planes() const { return images * channels; }
  template <class T>
  T* data() const {
    return static_cast<T*>(t.raw_data());
  }
};

// Whether operators on t with n spatial dims have results with channels last.
bool has_channels_last(const Tensor& t, int64_t n);

// t in that dtype and order. It is t's own memory if that is so already.
Images read_images(const Tensor& t, int64_t n, ScalarType dtype, bool last);
// Room for the elements of `out`. It is out's own memory if that has the dtype
// and order.
Images room_for_images(const Tensor& out, int64_t n, ScalarType dtype,
                       bool last);
// Copies the elements from the room to `out`, unless they are there already.
void store_images(const Images& room, const Tensor& out);

// Gives a result with two or three spatial dims the memory format of `like`. A
// result with strides of its own changes only with `given`, for the cases where
// PyTorch resizes the tensor that is given.
void lie_like(const Tensor& like, int64_t n, const Tensor& out,
              bool given = false);

// The dtype in which elements are computed: float32, float64 or int64.
ScalarType computed_as(ScalarType dtype);
// Calls f.operator()<T>() for the C++ type of that dtype.
template <class F>
void visit_computed(ScalarType dtype, const F& f) {
  switch (dtype) {
    case kFloat: return f.template operator()<float>();
    case kDouble: return f.template operator()<double>();
    default: return f.template operator()<int64_t>();
  }
}

// The i-th number of a list that has one for each dim or one for all.
inline int64_t number_of(IntArrayRef list, int64_t i) {
  return list[list.size() == 1 ? 0 : static_cast<size_t>(i)];
}

// How many items to take at a time if one costs `work` elements.
inline int64_t grain_of(int64_t work) {
  constexpr int64_t kGrain = 32768;
  return work >= kGrain ? 1 : kGrain / (work < 1 ? 1 : work);
}

}  // namespace sy::cpu
