#include "element.cuh"
#include "index.cuh"
#include "sorted.cuh"

// Elements joined to others at indices, for one dtype (SY_T) and one way
// (SY_JOIN). One thread joins the elements that go to one place, in their
// order.

#ifndef SY_T
#define SY_T float
#endif
#ifndef SY_JOIN
#define SY_JOIN kJoinAdd
#endif

namespace {

using E = SY_T;

// The type in which elements are joined. Integers wrap, as unsigned ones of 64
// bits.
template <class T>
struct JoinedIn {
  using type = uint64_t;
};
template <>
struct JoinedIn<float> {
  using type = float;
};
template <>
struct JoinedIn<double> {
  using type = double;
};
template <>
struct JoinedIn<half16> {
  using type = float;
};
template <>
struct JoinedIn<bfloat16> {
  using type = float;
};
using Register = typename JoinedIn<E>::type;

template <class A, class B>
struct Same {
  static constexpr bool value = false;
};
template <class A>
struct Same<A, A> {
  static constexpr bool value = true;
};
constexpr bool kBool = Same<E, bool_byte>::value;
constexpr bool kWhole = Same<Register, uint64_t>::value;

template <class T>
__device__ __forceinline__ Register load(T x) {
  if constexpr (kBool) {
    return static_cast<uint8_t>(x) != 0 ? 1 : 0;
  } else if constexpr (kWhole) {
    return static_cast<Register>(static_cast<int64_t>(x));
  } else {
    return element_cast<Register>(x);
  }
}
template <class T = E>
__device__ __forceinline__ T store(Register x) {
  if constexpr (kWhole) {
    return static_cast<T>(x);
  } else {
    return element_cast<T>(x);
  }
}
__device__ __forceinline__ Register rounded(Register x) {
  return load(store(x));
}
__device__ __forceinline__ Register number(uint64_t bits) {
  E e;
  __builtin_memcpy(&e, &bits, sizeof(E));
  return load(e);
}

template <class R>
__device__ __forceinline__ bool less(R a, R b) {
  if constexpr (kWhole) {
    return static_cast<int64_t>(a) < static_cast<int64_t>(b);
  } else {
    return a < b;
  }
}

// NaN stays, on either side of a minimum or maximum.
template <JoinWay kWay, class R>
__device__ __forceinline__ R join(R a, R v) {
  if constexpr (kWay == kJoinAdd) {
    return kBool ? static_cast<R>(a != 0 || v != 0) : a + v;
  } else if constexpr (kWay == kJoinMultiply) {
    return kBool ? static_cast<R>(a != 0 && v != 0) : a * v;
  } else if constexpr (kWay == kJoinMin) {
    return v != v || less(v, a) ? v : a;
  } else {
    return v != v || less(a, v) ? v : a;
  }
}

__device__ __forceinline__ Register joined(Register a, Register v,
                                           const JoinHow& how, Register alpha) {
  if (how.scales != 0) {
    v = kBool ? static_cast<Register>(v != 0 && alpha != 0) : v * alpha;
    if (kWhole) v = rounded(v);
  }
  a = join<SY_JOIN>(a, v);
  return kWhole ? rounded(a) : a;
}

// The mean of n numbers. A mean of whole numbers is rounded down.
template <class R>
__device__ __forceinline__ R mean(R sum, int64_t n) {
  if constexpr (kWhole) {
    const auto a = static_cast<int64_t>(sum);
    return static_cast<R>(a / n - (a % n < 0 ? 1 : 0));
  } else {
    return sum / static_cast<R>(n);
  }
}

}  // namespace

SY_KERNEL(join_owned, OwnedParams, 256) {
  const Register alpha = number(p.how.alpha);
  for (int64_t i = first_index(); i < p.walk.numel; i += index_stride()) {
    int64_t at[3];
    places(p.walk, i, at);
    for (int64_t k = 0; k < p.length; ++k) {
      auto* const to = reinterpret_cast<E*>(
          p.to + at[0] +
          index_at(p.head, p.index, at[2] + k * p.index_step, p.argument));
      const E v = *reinterpret_cast<const E*>(p.from + at[1] + k * p.from_step);
      *to = store(joined(load(*to), load(v), p.how, alpha));
    }
  }
}

namespace {

// `sum` joined with the sources [k, end).
__device__ __forceinline__ Register joined_run(const SortedParams& p,
                                               Register sum, int64_t k,
                                               int64_t end, int64_t column) {
  const Register alpha = number(p.how.alpha);
  // Several loads on their way at once.
  for (; k + kAhead <= end; k += kAhead) {
    E v[kAhead];
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      v[j] = *reinterpret_cast<const E*>(sorted_source(p, k + j, column));
    }
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      sum = joined(sum, load(v[j]), p.how, alpha);
    }
  }
  for (; k < end; ++k) {
    const E v = *reinterpret_cast<const E*>(sorted_source(p, k, column));
    sum = joined(sum, load(v), p.how, alpha);
  }
  return sum;
}

}  // namespace

// Joins the sources of long runs but for the first kRun, in pieces of kRun. No
// two such pieces begin in the same kRun sources.
SY_KERNEL(join_partials, SortedParams, 256) {
  const int64_t columns = p.columns.numel;
  const int64_t pieces = (p.n + kRun - 1) / kRun;
  for (int64_t i = first_index(); i < pieces * columns; i += index_stride()) {
    const int64_t piece = i / columns, one = piece * kRun;
    if (one == 0) continue;
    const int64_t key = p.keys[one];
    const int64_t first = sorted_begin(p, one, key);
    const int64_t before = (one - first + kRun - 1) / kRun * kRun;
    const int64_t begin = first + before;
    if (before == 0 || begin >= p.n || p.keys[begin] != key) continue;
    const int64_t end = sorted_end(p, begin, key);
    int64_t at[2];
    places(p.columns, i - piece * columns, at);
    static_cast<Register*>(p.partials)[i] =
        joined_run(p, number(p.how.identity), begin,
                   end < begin + kRun ? end : begin + kRun, at[1]);
  }
}

SY_KERNEL(join_sorted, SortedParams, 256) {
  const int64_t columns = p.columns.numel;
  for (int64_t i = first_index(); i < p.n * columns; i += index_stride()) {
    const SortedPlace at = sorted_place(p, i);
    const int64_t key = p.keys[at.source];
    if (at.source != 0 && p.keys[at.source - 1] == key) continue;
    const int64_t end = sorted_end(p, at.source, key);
    auto* const to = reinterpret_cast<E*>(p.to + key * p.key_step + at.to);
    Register sum = p.how.fresh != 0 ? number(p.how.identity) : load(*to);
    const bool whole = p.partials == nullptr || end - at.source <= kRun;
    sum =
        joined_run(p, sum, at.source, whole ? end : at.source + kRun, at.from);
    if (!whole) {
      const auto* const partials = static_cast<const Register*>(p.partials);
      const int64_t column = i - at.source * columns;
      for (int64_t k = at.source + kRun; k < end; k += kRun) {
        sum = join<SY_JOIN>(sum, partials[k / kRun * columns + column]);
        if (kWhole) sum = rounded(sum);
      }
    }
    if (p.how.mean != 0) {
      sum = mean(sum, end - at.source + (p.how.fresh != 0 ? 0 : 1));
    }
    *to = store(sum);
  }
}
