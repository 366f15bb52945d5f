#pragma once

#include "kernel.cuh"

// Reductions and scans over the threads of a warp or of a block. Values are of
// any struct without constructors, combinations any function object f(a, b), of
// which a comes from the lower thread: it need not be commutative, and no
// identity is asked for. The order is a function of the number of threads
// alone, and all threads get the same bits.
//
// All threads of the block call these together, in a block of whole warps.

namespace sy::cuda {

constexpr int kWarpSize = 32;

// A value as words that a shuffle takes.
template <class T>
union ShuffledWords {
  static constexpr int kCount = (sizeof(T) + 3) / 4;
  unsigned words[kCount];
  T value;
};

// Each word of v as `f` makes it.
template <class T, class F>
__device__ __forceinline__ T word_by_word(const T& v, const F& f) {
  ShuffledWords<T> w;
  w.value = v;
#pragma unroll
  for (int i = 0; i < ShuffledWords<T>::kCount; ++i) w.words[i] = f(w.words[i]);
  return w.value;
}

template <class T>
__device__ __forceinline__ T shuffle_down(const T& v, int delta, int width) {
  return word_by_word(v, [&](unsigned w) {
    return __shfl_down_sync(0xffffffffu, w, delta, width);
  });
}
template <class T>
__device__ __forceinline__ T shuffle_up(const T& v, int delta,
                                        int width = kWarpSize) {
  return word_by_word(v, [&](unsigned w) {
    return __shfl_up_sync(0xffffffffu, w, delta, width);
  });
}
// The value of one lane of each `width`.
template <class T>
__device__ __forceinline__ T shuffle(const T& v, int lane,
                                     int width = kWarpSize) {
  return word_by_word(v, [&](unsigned w) {
    return __shfl_sync(0xffffffffu, w, lane, width);
  });
}
template <class T>
__device__ __forceinline__ T shuffle_xor(const T& v, int mask) {
  return word_by_word(v, [&](unsigned w) {
    return __shfl_xor_sync(0xffffffffu, w, mask, kWarpSize);
  });
}

// The values of the first `valid` of each `lanes` threads (a power of two, at
// most a warp) in the first of them. If there are none, that thread keeps its
// own.
template <class T, class F>
__device__ __forceinline__ T reduce_lanes(T v, int lanes, int valid,
                                          const F& f) {
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  for (int d = lanes / 2; d > 0; d /= 2) {
    const T other = shuffle_down(v, d, lanes);
    if (lane < d && lane + d < valid) v = f(v, other);
  }
  return v;
}

// The same for groups of threads of any power of two. `room` has an element for
// each warp of the block; it may be used again after the next barrier.
template <class T, class F>
__device__ __forceinline__ T reduce_group(T v, int lanes, int64_t valid,
                                          T* room, const F& f) {
  if (lanes <= kWarpSize) {
    return reduce_lanes(v, lanes, static_cast<int>(valid), f);
  }
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  const int first = lane & ~(kWarpSize - 1);  // of the warp
  v = reduce_lanes(v, kWarpSize,
                   static_cast<int>(valid < first ? 0 : valid - first), f);
  const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
  if (lane == first) room[warp] = v;
  __syncthreads();
  if (lane == 0) {
    const int64_t warps = (valid + kWarpSize - 1) / kWarpSize;
    for (int w = 1; w < lanes / kWarpSize && w < warps; ++w) {
      v = f(v, room[warp + w]);
    }
  }
  return v;
}

// The values of all threads of the groups, in every thread of each.
template <class T, class F>
__device__ __forceinline__ T reduce_to_all(T v, int lanes, T* room,
                                           const F& f) {
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  for (int d = lanes < kWarpSize ? lanes / 2 : kWarpSize / 2; d > 0; d /= 2) {
    const T other = shuffle_xor(v, d);
    v = (lane & d) != 0 ? f(other, v) : f(v, other);
  }
  if (lanes <= kWarpSize) return v;
  const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
  const int first = (static_cast<int>(threadIdx.x) - lane) / kWarpSize;
  __syncthreads();  // earlier readers of the room are done
  if ((lane & (kWarpSize - 1)) == 0) room[warp] = v;
  __syncthreads();
  v = room[first];
  for (int w = 1; w < lanes / kWarpSize; ++w) v = f(v, room[first + w]);
  return v;
}

// v becomes the combination of the values of all threads up to this one.
// `before` is that of the threads before it, if there are any. `room` is as
// above. All threads must have a value.
template <class T, class F>
__device__ __forceinline__ void scan_block(T& v, T& before, T* room,
                                           const F& f) {
  const int lane = static_cast<int>(threadIdx.x) & (kWarpSize - 1);
  const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
  for (int d = 1; d < kWarpSize; d *= 2) {
    const T other = shuffle_up(v, d);
    if (lane >= d) v = f(other, v);
  }
  before = shuffle_up(v, 1);
  __syncthreads();
  if (lane == kWarpSize - 1) room[warp] = v;
  __syncthreads();
  if (warp == 0) return;
  T ahead = room[0];
  for (int w = 1; w < warp; ++w) ahead = f(ahead, room[w]);
  before = lane == 0 ? ahead : f(ahead, before);
  v = f(ahead, v);
}

}  // namespace sy::cuda
