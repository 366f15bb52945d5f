// Reductions of runs and of the columns of a matrix.

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/tiles/reduce.cpp"
#include "hwy/foreach_target.h"

#include <cstring>
#include <limits>

#include "backends/cpu/tiles/loop.inc"
#include "backends/cpu/tiles/narrow.inc"

HWY_BEFORE_NAMESPACE();
#include "backends/cpu/tiles/wide.inc"
namespace sy::cpu::tiles::HWY_NAMESPACE {
namespace {

#include "aten/program/functors/arithmetic.inc"

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
// The machine's instruction gives the same if no lane is NaN.
struct Max {
  template <class D, class V>
  static HWY_INLINE V lanes(D, V a, V b) {
    return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
  }
  template <class V>
  static HWY_INLINE V of_numbers(V a, V b) {
    return hn::Max(a, b);
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
  template <class V>
  static HWY_INLINE V of_numbers(V a, V b) {
    return hn::Min(a, b);
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

// Whether a lane of one of the two is NaN, which max and min keep.
template <class Op>
concept Extreme = requires(hn::Vec<hn::ScalableTag<float>> v) {
  Op::of_numbers(v, v);
};
template <class V>
HWY_INLINE auto either_nan(V a, V b) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (sizeof(hn::TFromV<V>) == 4) {
    return hn::Mask<hn::DFromV<V>>{_mm512_cmp_ps_mask(a.raw, b.raw, 3)};
  } else {
    return hn::Mask<hn::DFromV<V>>{_mm512_cmp_pd_mask(a.raw, b.raw, 3)};
  }
#else
  return hn::Or(hn::IsNaN(a), hn::IsNaN(b));
#endif
}

// Note [Tree of lanes]
// A block of floats is reduced in 256 bytes of lanes, however many vectors
// those are, which then fold in halves: the order of the additions does not
// depend on the instruction set, nor on alignment.
template <class Op, class D>
HWY_INLINE hn::TFromD<D> fold(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(d) == 1) {
    return hn::GetLane(v);
  } else {
    const hn::Half<D> h;
    return fold<Op>(h, Op::lanes(h, hn::LowerHalf(h, v), hn::UpperHalf(h, v)));
  }
}

// Adds kLanes elements, those of an array, to the lanes.
template <class Op, class T, int kVectors>
struct Tree {
  static constexpr hn::ScalableTag<T> d = {};
  static constexpr int kWidth = HWY_MAX_BYTES / sizeof(T);
  using V = hn::Vec<hn::ScalableTag<T>>;
  V lanes[kVectors];
  hn::Mask<hn::ScalableTag<T>> nan = hn::IsNaN(hn::Zero(d));

  HWY_INLINE Tree() {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      lanes[v] = hn::Set(d, Op::template kIdentity<T>);
    }
  }
  HWY_INLINE void add(const T* x) {
    V in[kVectors];
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) in[v] = hn::LoadU(d, x + v * kWidth);
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      if constexpr (Extreme<Op>) {
        lanes[v] = Op::of_numbers(lanes[v], in[v]);
        if (v % 2 == 1) nan = hn::Or(nan, either_nan(in[v - 1], in[v]));
      } else {
        lanes[v] = Op::lanes(d, lanes[v], in[v]);
      }
    }
  }
  HWY_INLINE T result() {
#pragma GCC unroll 4
    for (int half = kVectors / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
      for (int v = 0; v < half; ++v) {
        lanes[v] = Op::lanes(d, lanes[v], lanes[v + half]);
      }
    }
    if constexpr (Extreme<Op>) {
      if (!hn::AllFalse(d, nan)) return std::numeric_limits<T>::quiet_NaN();
    }
    return fold<Op>(d, lanes[0]);
  }
  // The last 64 bytes of lanes fold in double: products leave the range of
  // floats sooner, and those near its end are slow.
  HWY_INLINE double wide_result() {
    constexpr int kLast = 64 / sizeof(T);
#pragma GCC unroll 4
    for (int half = kVectors / 2; half >= kVectors / 4; half /= 2) {
#pragma GCC unroll 8
      for (int v = 0; v < half; ++v) {
        lanes[v] = Op::lanes(d, lanes[v], lanes[v + half]);
      }
    }
    alignas(64) T room[kLast];
    alignas(64) double wide[kLast];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors / 4; ++v) {
      hn::Store(lanes[v], d, room + v * kWidth);
    }
    for (int i = 0; i < kLast; ++i) wide[i] = static_cast<double>(room[i]);
#pragma GCC unroll 4
    for (int half = kLast / 2; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) wide[i] = Op::f(wide[i], wide[i + half]);
    }
    return wide[0];
  }
};

// Elements as they lie in memory: those of T, or narrow ones (a Block).
template <class T>
struct Plain {
  using Element = T;
  static HWY_INLINE const T* load(T*, const T* x) { return x; }
};
template <class Block>
struct Narrow {
  using Element = uint16_t;
  static HWY_INLINE const float* load(float* room, const uint16_t* x) {
    Block::load(room, x);
    Block::load(room + kNarrowBlock, x + kNarrowBlock);
    return room;
  }
};

// Elements of T, mapped.
template <ReduceMap kMap, class T>
struct Mapped {
  using Element = T;
  static HWY_INLINE T f(T x) {
    if constexpr (kMap == ReduceMap::numbers) return x != x ? T(0) : x;
    if constexpr (kMap == ReduceMap::abs) return Abs::f(x);
    if constexpr (kMap == ReduceMap::square) return x * x;
  }
  static HWY_INLINE const T* load(T* room, const T* x) {
    SY_TILE_LOOP
    for (size_t i = 0; i < 256 / sizeof(T); ++i) room[i] = f(x[i]);
    return room;
  }
};

template <class Op, class T, class Source>
HWY_INLINE auto reduce_block(const typename Source::Element* x, int64_t n) {
  constexpr int64_t kLanes = 256 / sizeof(T);
  Tree<Op, T, 256 / HWY_MAX_BYTES> tree;
  for (; n >= kLanes; n -= kLanes, x += kLanes) {
    alignas(64) T room[kLanes];
    tree.add(Source::load(room, x));
  }
  if (n > 0) {
    alignas(64) T room[kLanes];
    if constexpr (std::is_same_v<Source, Plain<T>>) {
      for (int64_t i = 0; i < kLanes; ++i) room[i] = Op::template kIdentity<T>;
      std::memcpy(room, x, static_cast<size_t>(n) * sizeof(T));
    } else {
      alignas(64) typename Source::Element rest[kLanes] = {};
      std::memcpy(rest, x, static_cast<size_t>(n) * sizeof(*x));
      Source::load(room, rest);
      for (int64_t i = n; i < kLanes; ++i) room[i] = Op::template kIdentity<T>;
    }
    tree.add(room);
  }
  if constexpr (std::is_same_v<Op, Prod> && sizeof(T) == 4) {
    return tree.wide_result();
  } else {
    return tree.result();
  }
}

// Lane sums of 16 or, in double, 128 terms; the sum of blocks is in double.
template <class Op, class T, class Acc, class Source = Plain<T>>
void reduce_floats(void* acc, const void* x, int64_t n) {
  constexpr int64_t kBlock = sizeof(T) == 4 ? 1024 : 4096;
  Acc total = *static_cast<Acc*>(acc);
  const auto* p = static_cast<const typename Source::Element*>(x);
  for (; n > 0; n -= kBlock, p += kBlock) {
    const auto block = reduce_block<Op, T, Source>(p, n < kBlock ? n : kBlock);
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
        const auto v0 = load(p0), v1 = load(p1), v2 = load(p2), v3 = load(p3);
        const auto v4 = load(p4), v5 = load(p5), v6 = load(p6), v7 = load(p7);
        const auto all = load(a);
        if constexpr (Extreme<Op>) {
          const auto nan =
              hn::Or(hn::Or(hn::Or(either_nan(v0, v1), either_nan(v2, v3)),
                            hn::Or(either_nan(v4, v5), either_nan(v6, v7))),
                     hn::IsNaN(all));
          if (HWY_LIKELY(hn::AllFalse(d, nan))) {
            const auto of = [](auto u, auto v) { return Op::of_numbers(u, v); };
            const auto low = of(of(v0, v1), of(v2, v3));
            const auto high = of(of(v4, v5), of(v6, v7));
            hn::StoreU(of(all, of(low, high)), d, a + j);
            continue;
          }
        }
        const auto low = lanes(lanes(v0, v1), lanes(v2, v3));
        const auto high = lanes(lanes(v4, v5), lanes(v6, v7));
        hn::StoreU(lanes(all, lanes(low, high)), d, a + j);
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

// Elements of kRows rows, joined in pairs.
template <class Op, class Block, int kRows>
HWY_INLINE void join_narrow(float* v, const uint16_t* x, int64_t stride) {
  if constexpr (kRows == 1) {
    Block::load(v, x);
  } else {
    alignas(64) float w[kNarrowBlock];
    join_narrow<Op, Block, kRows / 2>(v, x, stride);
    join_narrow<Op, Block, kRows / 2>(w, x + kRows / 2 * stride, stride);
    SY_TILE_LOOP
    for (int i = 0; i < kNarrowBlock; ++i) v[i] = Op::f(v[i], w[i]);
  }
}

// Narrow rows, eight by eight as above: the same sums.
template <class Op, class Acc, class Block>
void reduce_narrow_rows(void* acc, const void* x, int64_t row_stride,
                        int64_t rows, int64_t n) {
  Acc* a = static_cast<Acc*>(acc);
  const char* row = static_cast<const char*>(x);
  for (; rows > 0;) {
    const int side = rows >= 8 ? 8 : 1;
    const auto at = [row, row_stride](int k) {
      return reinterpret_cast<const uint16_t*>(row + k * row_stride);
    };
    int64_t j = 0;
    for (; j + kNarrowBlock <= n; j += kNarrowBlock) {
      alignas(64) float v[kNarrowBlock];
      if (side == 8) {
        join_narrow<Op, Block, 8>(v, at(0) + j, row_stride / 2);
      } else {
        Block::load(v, at(0) + j);
      }
      SY_TILE_LOOP
      for (int i = 0; i < kNarrowBlock; ++i) {
        a[j + i] = Op::f(a[j + i], static_cast<Acc>(v[i]));
      }
    }
    for (; j < n; ++j) {
      float v[8];
      for (int k = 0; k < side; ++k) v[k] = Block::one(at(k)[j]);
      for (int step = 1; step < side; step *= 2) {
        for (int k = 0; k < side; k += 2 * step)
          v[k] = Op::f(v[k], v[k + step]);
      }
      a[j] = Op::f(a[j], static_cast<Acc>(v[0]));
    }
    rows -= side;
    row += side * row_stride;
  }
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

void set(KernelTable& t, Reduction r, ComputeType type, ReduceFn run,
         ReduceRowsFn rows) {
  t.reduces[static_cast<int>(r)][static_cast<int>(type)] = run;
  t.reduce_rows[static_cast<int>(r)][static_cast<int>(type)] = rows;
}

template <class T>
void fill_truth(KernelTable& t, ComputeType type) {
  set(t, Reduction::any, type, &reduce_truth<false, T>, &truth_rows<false, T>);
  set(t, Reduction::all, type, &reduce_truth<true, T>, &truth_rows<true, T>);
}

template <class T>
void fill_floats(KernelTable& t) {
  constexpr ComputeType type = TileTypeOf<T>::value;
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

template <ReduceMap kMap, class T>
void fill_mapped(KernelTable& t) {
  const auto at = [&t](Reduction r) -> ReduceFn& {
    return t.mapped_reduces[static_cast<int>(kMap)][static_cast<int>(r)]
                           [sizeof(T) == 8];
  };
  using From = Mapped<kMap, T>;
  at(Reduction::sum) = &reduce_floats<Sum, T, double, From>;
  if constexpr (kMap == ReduceMap::abs) {
    at(Reduction::max) = &reduce_floats<Max, T, T, From>;
  }
}
template <class T>
void fill_mapped(KernelTable& t) {
  fill_mapped<ReduceMap::numbers, T>(t);
  fill_mapped<ReduceMap::abs, T>(t);
  fill_mapped<ReduceMap::square, T>(t);
}

template <class Block>
void fill_narrow(KernelTable& t) {
  constexpr int kind = KernelTable::narrow_index(Block::kType);
  const auto set = [&t](Reduction r, ReduceFn run, ReduceRowsFn rows) {
    t.narrow_reduces[static_cast<int>(r)][kind] = run;
    t.narrow_reduce_rows[static_cast<int>(r)][kind] = rows;
  };
  using From = Narrow<Block>;
  set(Reduction::sum, &reduce_floats<Sum, float, double, From>,
      &reduce_narrow_rows<Sum, double, Block>);
  set(Reduction::max, &reduce_floats<Max, float, float, From>,
      &reduce_narrow_rows<Max, float, Block>);
  set(Reduction::min, &reduce_floats<Min, float, float, From>,
      &reduce_narrow_rows<Min, float, Block>);
}

template <class T>
void fill_integers(KernelTable& t, ComputeType type) {
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
  fill_mapped<float>(t);
  fill_mapped<double>(t);
  fill_narrow<HalfBlock>(t);
  fill_narrow<BFloat16Block>(t);
  fill_integers<uint8_t>(t, ComputeType::u8);
  fill_integers<int8_t>(t, ComputeType::i8);
  fill_integers<int16_t>(t, ComputeType::i16);
  fill_integers<int32_t>(t, ComputeType::i32);
  fill_integers<int64_t>(t, ComputeType::i64);
  fill_integers<uint8_t>(t, ComputeType::b8);
}

}  // namespace
}  // namespace sy::cpu::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu::tiles {
void fill_reduce(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }
}  // namespace sy::cpu::tiles
#endif
