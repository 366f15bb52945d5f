// Reductions of runs and of the columns of a matrix.

#include "aten/tile/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/tile/reduce.cpp"
#include "hwy/foreach_target.h"

#include <cstring>
#include <limits>

#include "aten/tile/loop.inc"

HWY_BEFORE_NAMESPACE();
#include "aten/tile/wide.inc"
namespace sy::tiles::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Each combines vectors (for floats) and scalars, and has an identity.
struct Sum {
  template <class D, class V>
  static HWY_INLINE V lanes(D, V a, V b) {
    return hn::Add(a, b);
  }
  template <class T>
  static HWY_INLINE T f(T a, T b) {
    return a + b;
  }
  template <class T>
  static constexpr T kIdentity = T(0);
};
struct Prod {
  template <class D, class V>
  static HWY_INLINE V lanes(D, V a, V b) {
    return hn::Mul(a, b);
  }
  template <class T>
  static HWY_INLINE T f(T a, T b) {
    return a * b;
  }
  template <class T>
  static constexpr T kIdentity = T(1);
};
struct Max {
  template <class D, class V>
  static HWY_INLINE V lanes(D, V a, V b) {
    return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
  }
  template <class T>
  static HWY_INLINE T f(T a, T b) {
    return ((a > b) | (a != a)) ? a : b;
  }
  template <class T>
  static constexpr T kIdentity = std::numeric_limits<T>::has_infinity
                                     ? -std::numeric_limits<T>::infinity()
                                     : std::numeric_limits<T>::lowest();
};
struct Min {
  template <class D, class V>
  static HWY_INLINE V lanes(D, V a, V b) {
    return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
  }
  template <class T>
  static HWY_INLINE T f(T a, T b) {
    return ((a < b) | (a != a)) ? a : b;
  }
  template <class T>
  static constexpr T kIdentity = std::numeric_limits<T>::has_infinity
                                     ? std::numeric_limits<T>::infinity()
                                     : std::numeric_limits<T>::max();
};

// Note [Tree of lanes]
// A block of floats is reduced in 256 bytes of lanes, however many vectors
// those are, which then fold in halves: the order of the additions does not
// depend on the instruction set, nor on alignment.
template <class Op, class T>
HWY_INLINE T reduce_block(const T* x, int64_t n) {
  const hn::ScalableTag<T> d;
  constexpr int kWidth = HWY_MAX_BYTES / sizeof(T);
  constexpr int kVectors = 256 / HWY_MAX_BYTES;
  constexpr int64_t kLanes = kWidth * kVectors;
  using V = hn::Vec<decltype(d)>;
  V lanes[kVectors];
#pragma GCC unroll 16
  for (int v = 0; v < kVectors; ++v) {
    lanes[v] = hn::Set(d, Op::template kIdentity<T>);
  }
  for (; n >= kLanes; n -= kLanes, x += kLanes) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      lanes[v] = Op::lanes(d, lanes[v], hn::LoadU(d, x + v * kWidth));
    }
  }
  if (n > 0) {
    alignas(64) T rest[kLanes];
    for (int64_t i = 0; i < kLanes; i += kWidth) {
      hn::Store(hn::Set(d, Op::template kIdentity<T>), d, rest + i);
    }
    std::memcpy(rest, x, static_cast<size_t>(n) * sizeof(T));
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      lanes[v] = Op::lanes(d, lanes[v], hn::Load(d, rest + v * kWidth));
    }
  }
#pragma GCC unroll 4
  for (int half = kVectors / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
    for (int v = 0; v < half; ++v) {
      lanes[v] = Op::lanes(d, lanes[v], lanes[v + half]);
    }
  }
  alignas(64) T last[kWidth];
  hn::Store(lanes[0], d, last);
#pragma GCC unroll 4
  for (int half = kWidth / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < half; ++i) last[i] = Op::f(last[i], last[i + half]);
  }
  return last[0];
}

// Lane sums of 16 or, in double, 128 terms; the sum of blocks is in double.
template <class Op, class T, class Acc>
void reduce_floats(void* acc, const void* x, int64_t n) {
  constexpr int64_t kBlock = sizeof(T) == 4 ? 1024 : 4096;
  Acc total = *static_cast<Acc*>(acc);
  const T* p = static_cast<const T*>(x);
  for (; n > 0; n -= kBlock, p += kBlock) {
    const T block = reduce_block<Op>(p, n < kBlock ? n : kBlock);
    total = Op::f(total, static_cast<Acc>(block));
  }
  *static_cast<Acc*>(acc) = total;
}

// Integers: sums and products modulo 2^64, which compilers reorder as they
// like.
template <class Op, class T, class Acc>
void reduce_integers(void* acc, const void* x, int64_t n) {
  Acc total = *static_cast<Acc*>(acc);
  const T* p = static_cast<const T*>(x);
  for (int64_t i = 0; i < n; ++i) total = Op::f(total, static_cast<Acc>(p[i]));
  *static_cast<Acc*>(acc) = total;
}

// The answer, once known, stays: the rest is not read.
template <bool kAll, class T>
void reduce_truth(void* acc, const void* x, int64_t n) {
  constexpr int64_t kPiece = 2048;
  uint8_t& answer = *static_cast<uint8_t*>(acc);
  const T* p = static_cast<const T*>(x);
  for (; n > 0 && (answer != 0) == kAll; n -= kPiece, p += kPiece) {
    const int64_t m = n < kPiece ? n : kPiece;
    int found = 0;
    for (int64_t i = 0; i < m; ++i) found |= (p[i] != T(0)) != kAll;
    if (found) answer = !kAll;
  }
}

template <class Op, class T, class Acc>
void reduce_rows(void* acc, const void* x, int64_t row_stride, int64_t rows,
                 int64_t n) {
  Acc* a = static_cast<Acc*>(acc);
  const char* row = static_cast<const char*>(x);
  for (; rows > 0; --rows, row += row_stride) {
    const T* p = reinterpret_cast<const T*>(row);
    SY_TILE_LOOP
    for (int64_t j = 0; j < n; ++j) a[j] = Op::f(a[j], static_cast<Acc>(p[j]));
  }
}

// Eight rows side by side: an eighth of the traffic to the accumulators, and
// of the additions one after the other.
template <class Op, class T, class Acc>
void reduce_rows_by_8(void* acc, const void* x, int64_t row_stride,
                      int64_t rows, int64_t n) {
  Acc* a = static_cast<Acc*>(acc);
  const char* row = static_cast<const char*>(x);
  const auto at = [&row, row_stride](int k) {
    return reinterpret_cast<const T*>(row + k * row_stride);
  };
  for (; rows >= 8; rows -= 8, row += 8 * row_stride) {
    const T *p0 = at(0), *p1 = at(1), *p2 = at(2), *p3 = at(3);
    const T *p4 = at(4), *p5 = at(5), *p6 = at(6), *p7 = at(7);
    int64_t j = 0;
    if constexpr (std::is_same_v<T, Acc>) {
      // gcc makes branches of seven choices.
      const hn::ScalableTag<T> d;
      const auto lanes = [d](auto u, auto v) { return Op::lanes(d, u, v); };
      const auto load = [d, &j](const T* p) { return hn::LoadU(d, p + j); };
      const auto width = static_cast<int64_t>(hn::Lanes(d));
      for (; j + width <= n; j += width) {
        const auto low =
            lanes(lanes(load(p0), load(p1)), lanes(load(p2), load(p3)));
        const auto high =
            lanes(lanes(load(p4), load(p5)), lanes(load(p6), load(p7)));
        hn::StoreU(lanes(load(a), lanes(low, high)), d, a + j);
      }
    }
    SY_TILE_LOOP
    for (; j < n; ++j) {
      const T low = Op::f(Op::f(p0[j], p1[j]), Op::f(p2[j], p3[j]));
      const T high = Op::f(Op::f(p4[j], p5[j]), Op::f(p6[j], p7[j]));
      a[j] = Op::f(a[j], static_cast<Acc>(Op::f(low, high)));
    }
  }
  reduce_rows<Op, T, Acc>(acc, row, row_stride, rows, n);
}

template <bool kAll, class T>
void truth_rows(void* acc, const void* x, int64_t row_stride, int64_t rows,
                int64_t n) {
  uint8_t* a = static_cast<uint8_t*>(acc);
  const char* row = static_cast<const char*>(x);
  for (; rows > 0; --rows, row += row_stride) {
    const T* p = reinterpret_cast<const T*>(row);
    SY_TILE_LOOP
    for (int64_t j = 0; j < n; ++j) {
      const uint8_t truth = p[j] != T(0);
      a[j] = kAll ? a[j] & truth : a[j] | truth;
    }
  }
}

void set(KernelTable& t, Reduction r, TileType type, ReduceFn run,
         ReduceRowsFn rows) {
  t.reduces[static_cast<int>(r)][static_cast<int>(type)] = run;
  t.reduce_rows[static_cast<int>(r)][static_cast<int>(type)] = rows;
}

template <class T>
void fill_truth(KernelTable& t, TileType type) {
  set(t, Reduction::any, type, &reduce_truth<false, T>, &truth_rows<false, T>);
  set(t, Reduction::all, type, &reduce_truth<true, T>, &truth_rows<true, T>);
}

template <class T>
void fill_floats(KernelTable& t) {
  constexpr TileType type = TileTypeOf<T>::value;
  set(t, Reduction::sum, type, &reduce_floats<Sum, T, double>,
      &reduce_rows_by_8<Sum, T, double>);
  set(t, Reduction::prod, type, &reduce_floats<Prod, T, double>,
      &reduce_rows<Prod, T, double>);
  set(t, Reduction::max, type, &reduce_floats<Max, T, T>,
      &reduce_rows_by_8<Max, T, T>);
  set(t, Reduction::min, type, &reduce_floats<Min, T, T>,
      &reduce_rows_by_8<Min, T, T>);
  fill_truth<T>(t, type);
}

template <class T>
void fill_integers(KernelTable& t, TileType type) {
  using Wide = uint64_t;
  set(t, Reduction::sum, type, &reduce_integers<Sum, T, Wide>,
      &reduce_rows<Sum, T, Wide>);
  set(t, Reduction::prod, type, &reduce_integers<Prod, T, Wide>,
      &reduce_rows<Prod, T, Wide>);
  set(t, Reduction::max, type, &reduce_integers<Max, T, T>,
      &reduce_rows<Max, T, T>);
  set(t, Reduction::min, type, &reduce_integers<Min, T, T>,
      &reduce_rows<Min, T, T>);
  fill_truth<T>(t, type);
}

void fill(KernelTable& t) {
  fill_floats<float>(t);
  fill_floats<double>(t);
  fill_integers<uint8_t>(t, TileType::u8);
  fill_integers<int8_t>(t, TileType::i8);
  fill_integers<int16_t>(t, TileType::i16);
  fill_integers<int32_t>(t, TileType::i32);
  fill_integers<int64_t>(t, TileType::i64);
  fill_integers<uint8_t>(t, TileType::b8);
}

}  // namespace
}  // namespace sy::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::tiles {
void fill_reduce(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }
}  // namespace sy::tiles
#endif
