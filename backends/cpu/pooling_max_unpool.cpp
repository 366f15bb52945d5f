#include <algorithm>

#include "backends/cpu/pooling_max.h"
#include "backends/cpu/pooling_max_kernels_gen.h"
#include "backends/cpu/support/images.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

// Throws for an index that is out of range; joined values may have one of -1.
[[gnu::noinline]] void check_nowhere(const char* op, int64_t at, int64_t places,
                                     AtIndex join) {
  SY_CHECK(at == -1 && join == AtIndex::Add, Index,
           "[{}] indices: expected values in [0, {}], got {}", op, places - 1,
           at);
}

// One image or plane of `places` with `channels` side by side each.
template <AtIndex kJoin, class T>
void put_block(const char* op, const T* from, const int64_t* index,
               int64_t count, int64_t places, int64_t channels, T* to) {
  std::fill(to, to + places * channels, T(0));
  const auto put = [=](int64_t at, int64_t c, T v) {
    if (static_cast<uint64_t>(at) < static_cast<uint64_t>(places)) {
      T& element = to[at * channels + c];
      element = kJoin == AtIndex::Add ? element + v : v;
    } else {
      check_nowhere(op, at, places, kJoin);
    }
  };
  if (channels == 1) {
    for (int64_t i = 0; i < count; ++i) put(index[i], 0, from[i]);
    return;
  }
  for (int64_t i = 0; i < count; ++i, index += channels, from += channels) {
    for (int64_t c = 0; c < channels; ++c) put(index[c], c, from[c]);
  }
}

}  // namespace

void put_at_indices(const char* op, int64_t n, const Tensor& values,
                    const Tensor& indices, AtIndex join, const Tensor& out) {
  const ScalarType dtype = computed_as(values.dtype());
  const bool last = has_channels_last(out, n);
  const Images room = room_for_images(out, n, dtype, last);
  const Images in = read_images(values, n, dtype, last);
  const Images at = read_images(indices, n, kLong, last);
  const int64_t channels = last ? room.channels : 1;
  const int64_t blocks = last ? room.images : room.planes();
  const int64_t count = in.places(), places = room.places();
  if (places == 0 && indices.numel() > 0) {
    check_nowhere(op, *at.data<int64_t>(), 0, AtIndex::Take);
  }
  const auto run = [&]<class T>() {
    const auto put = join == AtIndex::Add ? &put_block<AtIndex::Add, T>
                                          : &put_block<AtIndex::Take, T>;
    parallel_for(0, blocks, grain_of((count + places) * channels),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t b = begin; b < end; ++b) {
                     const int64_t first = b * count * channels;
                     put(op, in.data<T>() + first, at.data<int64_t>() + first,
                         count, places, channels,
                         room.data<T>() + b * places * channels);
                   }
                 });
  };
  dtype == kFloat ? run.template operator()<float>()
                  : run.template operator()<double>();
  store_images(room, out);
}

void max_pool2d_with_indices_backward_out(const Tensor& grad_output,
                                          const Tensor& self, IntArrayRef,
                                          IntArrayRef, IntArrayRef, IntArrayRef,
                                          bool, const Tensor& indices,
                                          const Tensor& out) {
  lie_like(self, 2, out);
  put_at_indices("max_pool2d_with_indices_backward", 2, grad_output, indices,
                 AtIndex::Add, out);
}

void max_pool3d_with_indices_backward_out(const Tensor& grad_output,
                                          const Tensor& self, IntArrayRef,
                                          IntArrayRef, IntArrayRef, IntArrayRef,
                                          bool, const Tensor& indices,
                                          const Tensor& out) {
  lie_like(self, 3, out, true);
  put_at_indices("max_pool3d_with_indices_backward", 3, grad_output, indices,
                 AtIndex::Add, out);
}

void fractional_max_pool2d_backward_out(const Tensor& grad_output,
                                        const Tensor&, IntArrayRef, IntArrayRef,
                                        const Tensor& indices,
                                        const Tensor& out) {
  put_at_indices("fractional_max_pool2d_backward", 2, grad_output, indices,
                 AtIndex::Add, out);
}

void fractional_max_pool3d_backward_out(const Tensor& grad_output,
                                        const Tensor&, IntArrayRef, IntArrayRef,
                                        const Tensor& indices,
                                        const Tensor& out) {
  put_at_indices("fractional_max_pool3d_backward", 3, grad_output, indices,
                 AtIndex::Add, out);
}

void max_unpool2d_out(const Tensor& self, const Tensor& indices, IntArrayRef,
                      const Tensor& out) {
  lie_like(self, 2, out);
  put_at_indices("max_unpool2d", 2, self, indices, AtIndex::Take, out);
}

void max_unpool3d_out(const Tensor& self, const Tensor& indices, IntArrayRef,
                      IntArrayRef, IntArrayRef, const Tensor& out) {
  put_at_indices("max_unpool3d", 3, self, indices, AtIndex::Take, out);
}

}  // namespace sy::cpu
