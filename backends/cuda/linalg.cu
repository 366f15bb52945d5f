// Products of matrices at any strides: by tiles, or by a warp or a block for
// each element where one side is thin. SY_ELEMENT is the dtype.

#include "tile.cuh"

// The lines of an operand; the other matrix's columns are its lines.
struct MatrixLines {
  const Element* data;
  int64_t lines, line_stride, term_stride;

  struct Line {
    int64_t at;
    bool there;
  };
  __device__ __forceinline__ Line line(int64_t i) const {
    return {i * line_stride, i < lines};
  }
  __device__ __forceinline__ int64_t term(int64_t k) const {
    return k * term_stride;
  }
  __device__ __forceinline__ Sum at(const Line& l, int64_t term) const {
    return l.there ? sum_of(data[l.at + term]) : Sum{0};
  }
};

__device__ __forceinline__ MatrixLines rows_of_a(const ProductParams& p,
                                                 int64_t group) {
  return {static_cast<const Element*>(p.a.data) + group * p.a.group, p.cut.m,
          p.a.row, p.a.column};
}
__device__ __forceinline__ MatrixLines columns_of_b(const ProductParams& p,
                                                    int64_t group) {
  return {static_cast<const Element*>(p.b.data) + group * p.b.group, p.cut.n,
          p.b.column, p.b.row};
}

__device__ __forceinline__ void finish(const ProductParams& p, int64_t group,
                                       int64_t m, int64_t n, Sum sum) {
  Sum alpha, beta;
  if constexpr (kFloating) {
    alpha = static_cast<Sum>(p.alpha);
    beta = static_cast<Sum>(p.beta);
  } else {
    alpha = static_cast<Sum>(p.whole_alpha);
    beta = static_cast<Sum>(p.whole_beta);
  }
  sum = alpha * sum;
  if (p.added.data != nullptr) {
    const Element* const d = static_cast<const Element*>(p.added.data) +
                             group * p.added.group + m * p.added.row +
                             n * p.added.column;
    sum = plus_product(sum, beta, sum_of(*d));
  }
  static_cast<Element*>(p.c)[(group * p.cut.m + m) * p.cut.n + n] =
      to_element<Element>(sum);
}

__device__ __forceinline__ void keep(const ProductParams& p, int64_t part,
                                     int64_t group, int64_t m, int64_t n,
                                     Sum sum) {
  if (p.cut.parts == 1) {
    finish(p, group, m, n, sum);
  } else {
    *sum_at(p.cut, part, group, m, n) = sum;
  }
}

SY_KERNEL(multiply_tiles, ProductParams, kTileThreads) {
  each_tile(p.cut, [&](int64_t group, int64_t m, int64_t n, int64_t first,
                       int64_t last, int64_t part) {
    tile_product(rows_of_a(p, group), columns_of_b(p, group), m, n, first, last,
                 [&](int64_t i, int64_t j, Sum sum) {
                   if (i < p.cut.m && j < p.cut.n) {
                     keep(p, part, group, i, j, sum);
                   }
                 });
  });
}

SY_KERNEL(add_parts, ProductParams, kTileThreads) {
  each_sum(p.cut, [&](int64_t group, int64_t m, int64_t n, Sum sum) {
    finish(p, group, m, n, sum);
  });
}

// blockDim.x threads (a power of two) compute an element: each adds every
// blockDim.x-th term, then their sums are added in pairs.
SY_KERNEL(multiply_lines, ProductParams, kTileThreads) {
  __shared__ Sum sums[kTileThreads];
  const int x = static_cast<int>(threadIdx.x),
            y = static_cast<int>(threadIdx.y);
  const int wide = static_cast<int>(blockDim.x);
  Sum* const own = sums + y * wide;
  const int64_t all = p.cut.groups * p.cut.m * p.cut.n * p.cut.parts;
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.y;
  for (int64_t base = static_cast<int64_t>(blockIdx.x) * blockDim.y; base < all;
       base += step) {
    const int64_t at = base + y;
    const int64_t n = at % p.cut.n, m = at / p.cut.n % p.cut.m;
    const int64_t rest = at / p.cut.n / p.cut.m;
    const int64_t group = rest % p.cut.groups, part = rest / p.cut.groups;
    Sum sum = 0;
    if (at < all) {
      const MatrixLines a = rows_of_a(p, group), b = columns_of_b(p, group);
      const int64_t first = part * p.cut.step;
      const int64_t last =
          first + p.cut.step < p.cut.k ? first + p.cut.step : p.cut.k;
      for (int64_t k = first + x; k < last; k += wide) {
        sum = plus_product(sum, a.at(a.line(m), a.term(k)),
                           b.at(b.line(n), b.term(k)));
      }
    }
    own[x] = sum;
    for (int d = wide / 2; d > 0; d /= 2) {
      __syncthreads();
      if (x < d) own[x] = sum = plus(sum, own[x + d]);
    }
    if (x == 0 && at < all) keep(p, part, group, m, n, sum);
    __syncthreads();
  }
}
