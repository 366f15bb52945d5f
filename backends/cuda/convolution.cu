// Convolutions as products of tiles whose operands are found where they lie: no
// columns are written out. x is the larger side, y the smaller one, where the
// windows are counted (aten/contract/convolution.h); the result of a transposed
// convolution is an x.
//   SY_ELEMENT  the dtype
//   SY_RESULT   the result: 0 y, 1 x, 2 the weight

#include "tile.cuh"

#ifndef SY_RESULT
#define SY_RESULT 0
#endif

// A count taken apart by sizes, the last one first.
struct Spot {
  int at[kSpaceDims];
  int64_t rest;
};
// Returns by value: a Spot with an address would lie in local memory.
__device__ __noinline__ Spot take_large_apart(int64_t i, const int* sizes) {
  Spot s;
#pragma unroll
  for (int d = kSpaceDims - 1; d >= 0; --d) {
    s.at[d] = static_cast<int>(i % sizes[d]);
    i /= sizes[d];
  }
  s.rest = i;
  return s;
}
__device__ __forceinline__ Spot spot_of(int64_t i,
                                        const int (&sizes)[kSpaceDims]) {
  if (i >> 31 != 0) return take_large_apart(i, sizes);
  Spot s;
  auto n = static_cast<unsigned>(i);
#pragma unroll
  for (int d = kSpaceDims - 1; d >= 0; --d) {
    const unsigned q = n / static_cast<unsigned>(sizes[d]);
    s.at[d] = static_cast<int>(n - q * static_cast<unsigned>(sizes[d]));
    n = q;
  }
  s.rest = n;
  return s;
}
__device__ __forceinline__ int64_t
along(const int (&at)[kSpaceDims], const long long (&strides)[kSpaceDims]) {
  int64_t sum = 0;
#pragma unroll
  for (int d = 0; d < kSpaceDims; ++d) sum += at[d] * strides[d];
  return sum;
}

// The offset of a window or a tap, and its part of a place: a place of x is the
// sum of a window's part and a tap's.
struct Anchor {
  int64_t at;
  int place[kSpaceDims];
  bool there;
};

// The window of a place of y, by its first x.
__device__ __forceinline__ Anchor window_of(const ConvolutionParams& p,
                                            int64_t i, int64_t count) {
  const Spot s = spot_of(i < count ? i : 0, p.y_size);
  Anchor a;
#pragma unroll
  for (int d = 0; d < kSpaceDims; ++d) {
    a.place[d] = s.at[d] * p.stride[d] - p.padding[d];
  }
  a.at = s.rest * p.x_batch + along(a.place, p.x_stride);
  a.there = i < count;
  return a;
}
__device__ __forceinline__ Anchor tap_of(const ConvolutionParams& p, int64_t k,
                                         int64_t count) {
  const Spot s = spot_of(k < count ? k : 0, p.kernel);
  Anchor a;
#pragma unroll
  for (int d = 0; d < kSpaceDims; ++d) a.place[d] = s.at[d] * p.dilation[d];
  a.at = s.rest * p.x_channel + along(a.place, p.x_stride);
  a.there = k < count;
  return a;
}
__device__ __forceinline__ Sum seen(const ConvolutionParams& p,
                                    const Element* x, const Anchor& window,
                                    const Anchor& tap) {
  bool there = window.there && tap.there;
#pragma unroll
  for (int d = 0; d < kSpaceDims; ++d) {
    there &= static_cast<unsigned>(window.place[d] + tap.place[d]) <
             static_cast<unsigned>(p.x_size[d]);
  }
  return there ? sum_of(x[window.at + tap.at]) : Sum{0};
}

// The operands: a line for each row or column of the result, a term for each
// product of its sum.

#if SY_RESULT == 0

// Lines: places of y and images. Terms: channels of the group and taps.
struct Windows {
  const ConvolutionParams* p;
  const Element* x;

  __device__ __forceinline__ Anchor line(int64_t i) const {
    return window_of(*p, i, p->cut.m);
  }
  __device__ __forceinline__ Anchor term(int64_t k) const {
    return tap_of(*p, k, p->cut.k);
  }
  __device__ __forceinline__ Sum at(const Anchor& l, const Anchor& t) const {
    return seen(*p, x, l, t);
  }
};

#elif SY_RESULT == 1

// The y's that an x takes part in. Lines: places of x and images. Terms:
// outputs of the group and taps.
struct Seers {
  const ConvolutionParams* p;
  const Element* y;

  __device__ __forceinline__ Anchor line(int64_t i) const {
    const bool there = i < p->cut.m;
    const Spot s = spot_of(there ? i : 0, p->x_size);
    Anchor a;
#pragma unroll
    for (int d = 0; d < kSpaceDims; ++d) {
      a.place[d] = s.at[d] + p->padding[d];
    }
    a.at = s.rest * p->y_batch;
    a.there = there;
    return a;
  }
  __device__ __forceinline__ Anchor term(int64_t k) const {
    const Spot s = spot_of(k, p->kernel);
    Anchor a;
#pragma unroll
    for (int d = 0; d < kSpaceDims; ++d) a.place[d] = s.at[d] * p->dilation[d];
    a.at = s.rest * p->y_channel;
    a.there = true;
    return a;
  }
  __device__ __forceinline__ Sum at(const Anchor& l, const Anchor& t) const {
    int64_t from;
    return find(l, t, &from) ? sum_of(y[from]) : Sum{0};
  }
  // Whether the tap of a window meets the x, and where that window's y is.
  __device__ __forceinline__ bool find(const Anchor& l, const Anchor& t,
                                       int64_t* at) const {
    bool there = l.there;
    int64_t from = l.at + t.at;
#pragma unroll
    for (int d = 0; d < kSpaceDims; ++d) {
      const int far = l.place[d] - t.place[d];
      int place = far;
      if (p->stride[d] != 1) {
        place = far / p->stride[d];
        there &= place * p->stride[d] == far;
      }
      there &= far >= 0 && place < p->y_size[d];
      from += place * p->y_stride[d];
    }
    *at = from;
    return there;
  }
};

#else

// Lines: outputs of the group. Terms: places of y and images.
struct Outputs {
  const ConvolutionParams* p;
  const Element* y;

  struct Line {
    int64_t at;
    bool there;
  };
  __device__ __forceinline__ Line line(int64_t i) const {
    return {i * p->y_channel, i < p->cut.m};
  }
  __device__ __forceinline__ int64_t term(int64_t k) const {
    const Spot s = spot_of(k, p->y_size);
    return s.rest * p->y_batch + along(s.at, p->y_stride);
  }
  __device__ __forceinline__ Sum at(const Line& l, int64_t term) const {
    return l.there ? sum_of(y[l.at + term]) : Sum{0};
  }
};

// Lines: channels of the group and taps. Terms: the windows.
struct Taps {
  const ConvolutionParams* p;
  const Element* x;

  __device__ __forceinline__ Anchor line(int64_t i) const {
    return tap_of(*p, i, p->cut.n);
  }
  __device__ __forceinline__ Anchor term(int64_t k) const {
    return window_of(*p, k, p->cut.k);
  }
  __device__ __forceinline__ Sum at(const Anchor& l, const Anchor& t) const {
    return seen(*p, x, t, l);
  }
};

#endif

#if SY_RESULT != 2

// The weight. Lines: outputs or, for x, channels. Terms: the other of them and
// the taps.
struct Weights {
  const ConvolutionParams* p;
  const Element* w;

  struct Line {
    int64_t at;
    bool there;
  };
  __device__ __forceinline__ Line line(int64_t i) const {
    return {i * (SY_RESULT == 0 ? p->w_output : p->w_channel), i < p->cut.n};
  }
  __device__ __forceinline__ int64_t term(int64_t k) const {
    const Spot s = spot_of(k, p->kernel);
    return s.rest * (SY_RESULT == 0 ? p->w_channel : p->w_output) +
           along(s.at, p->w_stride);
  }
  __device__ __forceinline__ Sum at(const Line& l, int64_t term) const {
    return l.there ? sum_of(w[l.at + term]) : Sum{0};
  }
};

#endif

#if SY_RESULT == 1

// Adds again only the terms that are there: the weight of another may be
// infinite or NaN, and 0 times it is NaN.
__device__ __noinline__ Sum sum_of_present(Seers a, Weights b, int64_t m,
                                           int64_t n, int64_t first,
                                           int64_t last) {
  const auto row = a.line(m);
  const auto column = b.line(n);
  Sum sum = 0;
  for (int64_t k = first; k < last; ++k) {
    int64_t at;
    if (!a.find(row, a.term(k), &at)) continue;
    sum = plus_product(sum, sum_of(a.y[at]), b.at(column, b.term(k)));
  }
  return sum;
}

#endif

// Keeps the sum of line m and column n. It is not inline, as a thread has many
// of them.
__device__ __noinline__ void finish(const ConvolutionParams& p, int64_t group,
                                    int64_t m, int64_t n, Sum sum) {
#if SY_RESULT == 0
  const Spot s = spot_of(m, p.y_size);
  const int64_t channel = group * p.group_out + n;
  const int64_t at =
      s.rest * p.y_batch + channel * p.y_channel + along(s.at, p.y_stride);
#elif SY_RESULT == 1
  const Spot s = spot_of(m, p.x_size);
  const int64_t channel = group * p.group_in + n;
  const int64_t at =
      s.rest * p.x_batch + channel * p.x_channel + along(s.at, p.x_stride);
#else
  const Spot s = spot_of(n, p.kernel);
  const int64_t channel = 0;
  const int64_t at = (group * p.group_out + m) * p.w_output +
                     s.rest * p.w_channel + along(s.at, p.w_stride);
#endif
  if (p.bias != nullptr) {
    sum = plus(
        sum,
        sum_of(static_cast<const Element*>(p.bias)[channel * p.bias_stride]));
  }
  static_cast<Element*>(p.out)[at] = to_element<Element>(sum);
}

SY_KERNEL(convolve, ConvolutionParams, kTileThreads) {
  each_tile(p.cut, [&](int64_t group, int64_t m, int64_t n, int64_t first,
                       int64_t last, int64_t part) {
    const auto* const x =
        static_cast<const Element*>(p.x) + group * p.group_in * p.x_channel;
    const auto* const y =
        static_cast<const Element*>(p.y) + group * p.group_out * p.y_channel;
    const auto* const w =
        static_cast<const Element*>(p.w) + group * p.group_out * p.w_output;
#if SY_RESULT == 0
    const Windows a = {&p, x};
    const Weights b = {&p, w};
    (void)y;
#elif SY_RESULT == 1
    const Seers a = {&p, y};
    const Weights b = {&p, w};
    (void)x;
#else
    const Outputs a = {&p, y};
    const Taps b = {&p, x};
    (void)w;
#endif
    tile_product(a, b, m, n, first, last, [&](int64_t i, int64_t j, Sum sum) {
      if (i >= p.cut.m || j >= p.cut.n) return;
#if SY_RESULT == 1
      if (sum != sum) sum = sum_of_present(a, b, i, j, first, last);
#endif
      if (p.cut.parts == 1) {
        finish(p, group, i, j, sum);
      } else {
        *sum_at(p.cut, part, group, i, j) = sum;
      }
    });
  });
}

SY_KERNEL(add_parts, ConvolutionParams, kTileThreads) {
  each_sum(p.cut, [&](int64_t group, int64_t m, int64_t n, Sum sum) {
    finish(p, group, m, n, sum);
  });
}
