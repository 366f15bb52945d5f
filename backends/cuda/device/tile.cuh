#pragma once

#include "element.cuh"
#include "product_params.cuh"

// Products of tiles in shared memory, for sums of products of any operands:
// lines of one times lines of the other. A sum is made in the order of its
// terms, by one thread.
//   SY_ELEMENT  the type of elements
//   SY_SIDE     of the tile of a block of 256 threads: 64 or 128
//   SY_ALONG_A, SY_ALONG_B  1: neighbouring threads read neighbouring terms of
//               the operand, not lines

#ifndef SY_ELEMENT
#define SY_ELEMENT float
#endif
#ifndef SY_SIDE
#define SY_SIDE 64
#endif
#ifndef SY_ALONG_A
#define SY_ALONG_A 0
#define SY_ALONG_B 0
#endif

namespace sy::cuda {

using Element = SY_ELEMENT;

// The type that sums are made in: integers wrap around.
template <class T>
struct SumOf {
  using type = functors::std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
};
template <>
struct SumOf<float> {
  using type = float;
};
template <>
struct SumOf<double> {
  using type = double;
};
template <>
struct SumOf<half16> {
  using type = float;
};
template <>
struct SumOf<bfloat16> {
  using type = float;
};
using Sum = SumOf<Element>::type;
constexpr bool kFloating = functors::std::is_same_v<Sum, float> ||
                           functors::std::is_same_v<Sum, double>;
constexpr bool kTruth = functors::std::is_same_v<Element, bool_byte>;

template <class E>
__device__ __forceinline__ Sum sum_of(E e) {
  if constexpr (kFloating) {
    return element_cast<Sum>(e);
  } else if constexpr (sizeof(E) == 8) {
    return static_cast<Sum>(e);
  } else {
    return static_cast<Sum>(element_cast<int32_t>(e));
  }
}
template <class E>
__device__ __forceinline__ E to_element(Sum s) {
  if constexpr (kFloating) {
    return element_cast<E>(s);
  } else if constexpr (kTruth) {
    return static_cast<E>(s != 0);
  } else {
    return static_cast<E>(s);
  }
}
__device__ __forceinline__ float plus_product(float s, float a, float b) {
  return fmaf(a, b, s);
}
__device__ __forceinline__ double plus_product(double s, double a, double b) {
  return fma(a, b, s);
}
__device__ __forceinline__ uint32_t plus_product(uint32_t s, uint32_t a,
                                                 uint32_t b) {
  return kTruth ? s | (a & b) : s + a * b;
}
__device__ __forceinline__ uint64_t plus_product(uint64_t s, uint64_t a,
                                                 uint64_t b) {
  return s + a * b;
}
template <class S>
__device__ __forceinline__ S plus(S a, S b) {
  if constexpr (kTruth) {
    return a | b;
  } else {
    return a + b;
  }
}

constexpr int kTileThreads = 256;
constexpr int kSide = SY_SIDE;
constexpr int kDepth = kSide == 64 ? 16 : 8;
constexpr int kPer = kSide / 16;  // rows and columns of a thread
constexpr int kLoads = kSide * kDepth / kTileThreads;

// The elements of a step that a thread brings. An operand has
//   Line line(int64_t i)       finds line i; it is valid or not
//   Term term(int64_t k)       finds term k
//   Sum at(Line, Term)         0 beyond the operand
template <bool kAlong, class Operand>
class Loader {
 public:
  __device__ __forceinline__ Loader(const Operand& of, int64_t first)
      : of_(of) {
    const int t = static_cast<int>(threadIdx.x);
    line_ = kAlong ? t / kDepth : t % kSide;
    term_ = kAlong ? t % kDepth : t / kSide;
#pragma unroll
    for (int i = 0; i < kLines; ++i) {
      lines_[i] = of.line(first + line_ + i * (kTileThreads / kDepth));
    }
  }

  __device__ __forceinline__ void fetch(int64_t k, int64_t last) {
#pragma unroll
    for (int i = 0; i < kTerms; ++i) {
      const int64_t at = k + term_ + i * (kTileThreads / kSide);
      const bool there = at < last;
      const auto term = of_.term(there ? at : k);
#pragma unroll
      for (int l = 0; l < kLines; ++l) {
        held_[i + l] = there ? of_.at(lines_[l], term) : Sum{0};
      }
    }
  }

  __device__ __forceinline__ void put(Sum (*tile)[kSide + 4]) const {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      if constexpr (kAlong) {
        tile[term_][line_ + i * (kTileThreads / kDepth)] = held_[i];
      } else {
        tile[term_ + i * (kTileThreads / kSide)][line_] = held_[i];
      }
    }
  }

 private:
  static constexpr int kLines = kAlong ? kLoads : 1;
  static constexpr int kTerms = kAlong ? 1 : kLoads;
  using Line = decltype(Operand().line(0));
  const Operand& of_;
  int line_, term_;
  Line lines_[kLines];
  Sum held_[kLoads];
};

// The place in the tile of the i-th of a thread's rows (or columns).
__device__ __forceinline__ int row_of_tile(int t, int i) {
  return i / 4 * 64 + t * 4 + i % 4;
}

// Calls f(m, n, sum) for the sums of the terms [first, last) of one tile.
template <class A, class B, class F>
__device__ __forceinline__ void tile_product(const A& a, const B& b, int64_t m,
                                             int64_t n, int64_t first,
                                             int64_t last, const F& f) {
  __shared__ Sum left[kDepth][kSide + 4], right[kDepth][kSide + 4];
  const int t = static_cast<int>(threadIdx.x);
  const int tm = t / 16, tn = t % 16;
  Loader<SY_ALONG_A != 0, A> from_a(a, m);
  Loader<SY_ALONG_B != 0, B> from_b(b, n);
  Sum sums[kPer][kPer] = {};
  // The operands of a step are read before the step before it multiplies.
  for (int64_t k = first; k < last + kDepth; k += kDepth) {
    if (k < last) {
      from_a.fetch(k, last);
      from_b.fetch(k, last);
    }
    if (k > first) {
#pragma unroll
      for (int d = 0; d < kDepth; ++d) {
        Sum x[kPer], y[kPer];
#pragma unroll
        for (int i = 0; i < kPer; ++i) {
          x[i] = left[d][row_of_tile(tm, i)];
          y[i] = right[d][row_of_tile(tn, i)];
        }
#pragma unroll
        for (int i = 0; i < kPer; ++i) {
#pragma unroll
          for (int j = 0; j < kPer; ++j) {
            sums[i][j] = plus_product(sums[i][j], x[i], y[j]);
          }
        }
      }
    }
    __syncthreads();
    if (k < last) {
      from_a.put(left);
      from_b.put(right);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kPer; ++i) {
#pragma unroll
    for (int j = 0; j < kPer; ++j) {
      f(m + row_of_tile(tm, i), n + row_of_tile(tn, j), sums[i][j]);
    }
  }
}

// Calls f(group, first row, first column, first term, last term, part) for each
// piece of work that the block has.
template <class F>
__device__ __forceinline__ void each_tile(const Cut& cut, const F& f) {
  const int64_t rows = (cut.m + kSide - 1) / kSide;
  const int64_t columns = (cut.n + kSide - 1) / kSide;
  const int64_t all = rows * columns * cut.groups * cut.parts;
  for (int64_t at = blockIdx.x; at < all; at += gridDim.x) {
    const int64_t column = at % columns, row = at / columns % rows;
    const int64_t rest = at / columns / rows;
    const int64_t group = rest % cut.groups, part = rest / cut.groups;
    const int64_t first = part * cut.step;
    const int64_t last = first + cut.step < cut.k ? first + cut.step : cut.k;
    f(group, row * kSide, column * kSide, first, last, part);
  }
}

// The room of one part of a sum.
__device__ __forceinline__ Sum* sum_at(const Cut& cut, int64_t part,
                                       int64_t group, int64_t m, int64_t n) {
  return static_cast<Sum*>(cut.sums) +
         ((part * cut.groups + group) * cut.m + m) * cut.n + n;
}

// Calls f(group, m, n, sum) for all sums that were made in parts.
template <class F>
__device__ __forceinline__ void each_sum(const Cut& cut, const F& f) {
  const int64_t all = cut.groups * cut.m * cut.n;
  for (int64_t i = first_index(); i < all; i += index_stride()) {
    const int64_t n = i % cut.n, m = i / cut.n % cut.m;
    const int64_t group = i / cut.n / cut.m;
    Sum sum = *sum_at(cut, 0, group, m, n);
    for (int64_t part = 1; part < cut.parts; ++part) {
      sum = plus(sum, *sum_at(cut, part, group, m, n));
    }
    f(group, m, n, sum);
  }
}

}  // namespace sy::cuda
