#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "aten/engine/copy.h"
#include "aten/engine/iter.h"
#include "backends/cpu/engine/scatter.h"
#include "backends/cpu/indexing.h"
#include "backends/cpu/support/dtype_switch.h"

namespace sy::cpu {

namespace {

// Fewer or shorter rows are shared by their columns.
constexpr int64_t kOwnedRows = 128, kOwnedColumns = 32;

// Rows of the target that a thread joins to.
struct Range {
  int64_t begin, end;
};
constexpr Range kAllRows{0, INT64_MAX};

// Shares the rows of a target among threads by the indices that name them.
class Owners {
 public:
  Owners(const int64_t* index, int64_t step, int64_t count) {
    int64_t last = 0;
    for (int64_t k = 0; k < count; ++k) last = std::max(last, index[k * step]);
    while (last >> shift_ >= kBuckets) ++shift_;
    for (int64_t k = 0; k < count; ++k) {
      ++starts_[static_cast<size_t>(index[k * step] >> shift_) + 1];
    }
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
  }
  // The rows of the indices [begin, end), counted in the order of their rows:
  // a bucket of them belongs where its first index does.
  Range rows(int64_t begin, int64_t end) const {
    return {first_row(begin), first_row(end)};
  }

 private:
  static constexpr int64_t kBuckets = 1024;
  int64_t first_row(int64_t rank) const {
    const auto at = std::lower_bound(starts_.begin(), starts_.end(), rank);
    return (at - starts_.begin()) << shift_;
  }
  int shift_ = 0;
  // How many indices lie before each bucket.
  std::array<int64_t, kBuckets + 1> starts_{};
};

struct Strides {
  int64_t column, row;
};

Strides strides_of(const Iter& it, int operand) {
  return {it.stride(operand, 0), it.ndim() > 1 ? it.stride(operand, 1) : 0};
}

template <class T>
T plus(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else if constexpr (std::is_integral_v<T>) {  // wraps
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    using A = typename Accumulate<T>::type;
    return static_cast<T>(static_cast<A>(a) + static_cast<A>(b));
  }
}

template <class T>
T times(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a && b;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    using A = typename Accumulate<T>::type;
    return static_cast<T>(static_cast<A>(a) * static_cast<A>(b));
  }
}

template <class T>
bool is_nan(T v) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return std::isnan(static_cast<typename Accumulate<T>::type>(v));
  }
}

// How an element is joined to the one that it goes to.
template <class T>
struct Assign {
  static constexpr bool kMoves = true;
  void operator()(T* to, T v) const { *to = v; }
};
template <class T>
struct Add {
  static constexpr bool kMoves = false;
  T alpha;
  void operator()(T* to, T v) const { *to = plus(*to, times(v, alpha)); }
};
template <class T>
struct Multiply {
  static constexpr bool kMoves = false;
  void operator()(T* to, T v) const { *to = times(*to, v); }
};
// One of the two, chosen without a branch, which would be guessed wrong too
// often: the compiler makes one where it may.
template <class T>
T either(bool first, T a, T b) {
  using Bits = std::conditional_t<
      sizeof(T) == 1, uint8_t,
      std::conditional_t<
          sizeof(T) == 2, uint16_t,
          std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
  const auto mask = static_cast<Bits>(-static_cast<int64_t>(first));
  return std::bit_cast<T>(static_cast<Bits>((std::bit_cast<Bits>(a) & mask) |
                                            (std::bit_cast<Bits>(b) & ~mask)));
}
// NaN stays, on either side. Both tests are made: no branch.
template <class T>
struct Min {
  static constexpr bool kMoves = false;
  void operator()(T* to, T v) const {
    *to = either((is_nan(v) | int{v < *to}) != 0, v, *to);
  }
};
template <class T>
struct Max {
  static constexpr bool kMoves = false;
  void operator()(T* to, T v) const {
    *to = either((is_nan(v) | int{*to < v}) != 0, v, *to);
  }
};

// The places along the dim of the indices. Steps are in bytes.
struct Places {
  int64_t count, index_step, from_step, to_step;
};

template <class T, class F>
void join_row(char* to, int64_t to_stride, const char* from,
              int64_t from_stride, int64_t n, const F& f) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  auto* y = reinterpret_cast<T*>(to);
  const auto* x = reinterpret_cast<const T*>(from);
  if (to_stride == kSize && from_stride == kSize) {
    if constexpr (F::kMoves) {
      std::memcpy(y, x, static_cast<size_t>(n) * sizeof(T));
    } else {
      for (int64_t c = 0; c < n; ++c) f(y + c, x[c]);
    }
    return;
  }
  if (from_stride == 0) {
    const T v = *x;
    for (int64_t c = 0; c < n; ++c) f(y + c * (to_stride / kSize), v);
    return;
  }
  for (int64_t c = 0; c < n; ++c) {
    f(y + c * (to_stride / kSize), x[c * (from_stride / kSize)]);
  }
}

struct Steps {
  int64_t to, from, index;
};

// Whether n indices seem to lead past the nearest caches, so that it pays to
// send for what they lead to. A few of them tell.
bool leads_far(const char* index, int64_t index_step, int64_t to_step,
               int64_t n) {
  constexpr int64_t kLeast = 512, kSamples = 8, kNearBytes = 256 << 10;
  if (n < kLeast) return false;
  int64_t first = INT64_MAX, last = 0;
  for (int64_t i = 0; i < kSamples; ++i) {
    const int64_t k = *reinterpret_cast<const int64_t*>(
        index + n / kSamples * i * index_step);
    first = std::min(first, k);
    last = std::max(last, k);
  }
  return (last - first) * to_step >= kNearBytes;
}

// join(c, place) for n elements, `place(c)` being where element c goes.
template <class P, class J>
void join_places(int64_t n, bool far, const P& place, const J& join) {
  constexpr int64_t kAhead = 16;
  int64_t c = 0;
  for (; far && c + kAhead < n; ++c) {
    __builtin_prefetch(place(c + kAhead), 1);
    join(c, place(c));
  }
  for (; c < n; ++c) join(c, place(c));
}

// n elements with an index each.
template <class T, class F>
void join_each(char* to, const char* from, const char* index, int64_t to_step,
               Steps step, int64_t n, const F& f) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  const bool far = leads_far(index, step.index, to_step, n);
  if (to_step == kSize && step.to == 0 &&
      step.index == int64_t{sizeof(int64_t)}) {
    auto* const y = reinterpret_cast<T*>(to);
    const auto* const x = reinterpret_cast<const T*>(from);
    const auto* const k = reinterpret_cast<const int64_t*>(index);
    const auto place = [y, k](int64_t c) { return y + k[c]; };
    if (step.from == kSize) {
      return join_places(n, far, place,
                         [&f, x](int64_t c, T* at) { f(at, x[c]); });
    }
    if (step.from == 0) {
      return join_places(n, far, place,
                         [&f, v = *x](int64_t, T* at) { f(at, v); });
    }
  }
  join_places(
      n, far,
      [=](int64_t c) {
        const int64_t k =
            *reinterpret_cast<const int64_t*>(index + c * step.index);
        return reinterpret_cast<T*>(to + c * step.to + k * to_step);
      },
      [&](int64_t c, T* at) {
        f(at, *reinterpret_cast<const T*>(from + c * step.from));
      });
}

// Joins a row for each index if rows lie as one in `to`; else the indices of
// one place after the other, since the dim of the indices lies closer then.
template <class T, class F>
void join_block(const Iter& it, const Iter::Block& b, const Places& p,
                Range own, const F& f) {
  const Strides to = strides_of(it, 0), from = strides_of(it, 1),
                at = strides_of(it, 2);
  const auto index = [](const char* i) {
    return *reinterpret_cast<const int64_t*>(i);
  };
  const bool rows =
      to.column == static_cast<int64_t>(sizeof(T)) && b.columns > 1;
  for (int64_t r = 0; r < b.rows; ++r) {
    char* const y = b.data[0] + r * to.row;
    const char* const x = b.data[1] + r * from.row;
    const char* const i = b.data[2] + r * at.row;
    if (rows && at.column == 0) {
      for (int64_t k = 0; k < p.count; ++k) {
        const int64_t at_row = index(i + k * p.index_step);
        if (at_row < own.begin || at_row >= own.end) continue;
        join_row<T>(y + at_row * p.to_step, to.column, x + k * p.from_step,
                    from.column, b.columns, f);
      }
      continue;
    }
    if (rows) {
      for (int64_t k = 0; k < p.count; ++k) {
        join_each<T>(y, x + k * p.from_step, i + k * p.index_step, p.to_step,
                     {to.column, from.column, at.column}, b.columns, f);
      }
    } else {
      for (int64_t c = 0; c < b.columns; ++c) {
        join_each<T>(y + c * to.column, x + c * from.column, i + c * at.column,
                     p.to_step, {0, p.from_step, p.index_step}, p.count, f);
      }
    }
  }
}

template <class T, class F>
void run(const ScatterPlan& plan, const F& f) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  const int64_t dim = plan.dim;
  Dims others = plan.sizes, to = plan.to_strides, from = plan.from_strides,
       at = plan.index_strides;
  const Places p{others[dim], at[dim] * int64_t{sizeof(int64_t)},
                 from[dim] * kSize, plan.step};
  others[dim] = 1;
  to[dim] = from[dim] = at[dim] = 0;
  Iter it(others);
  it.add(plan.to, sizeof(T), to);
  it.add(const_cast<void*>(plan.from), sizeof(T), from);
  it.add(const_cast<int64_t*>(plan.index), sizeof(int64_t), at);
  it.finish();
  if (it.numel() == 0 || p.count == 0) return;
  // Many whole rows: those of a thread lie together, as they did when what the
  // target holds was written, so that they are in its cache.
  if (it.ndim() == 1 && it.stride(0, 0) == kSize && it.stride(2, 0) == 0 &&
      it.size(0) >= kOwnedColumns && p.count >= kOwnedRows) {
    const Owners owners(plan.index, plan.index_strides[dim], p.count);
    parallel_for(0, p.count, std::max<int64_t>(1, kIndexGrain / it.numel()),
                 [&](int64_t begin, int64_t end) {
                   const Range own = owners.rows(begin, end);
                   it.run(0, it.numel(), [&](const Iter::Block& b) {
                     join_block<T>(it, b, p, own, f);
                   });
                 });
    return;
  }
  // The walk may be one short row, of which each element stands for many.
  parallel_for(0, it.numel(), std::max<int64_t>(1, kIndexGrain / p.count),
               [&](int64_t begin, int64_t end) {
                 it.run(begin, end, [&](const Iter::Block& b) {
                   join_block<T>(it, b, p, kAllRows, f);
                 });
               });
}

using Indices64 = std::vector<int64_t>;

// One stride for a dim, none for the others.
Dims only(int64_t dim, int64_t ndim) {
  Dims d;
  for (int64_t i = 0; i < ndim; ++i) d.push_back(i == dim ? 1 : 0);
  return d;
}

Dims row_major(const Dims& sizes) {
  Dims strides = sizes;
  contiguous_strides(sizes, strides.data());
  return strides;
}

bool is_vector(const ScatterPlan& plan) {
  for (int64_t d = 0; d < plan.sizes.size(); ++d) {
    const bool still = plan.index_strides[d] == 0 || plan.sizes[d] == 1;
    if (d != plan.dim && !still) return false;
  }
  return true;
}

// Copies the elements of `from` in row-major order, as float32.
Tensor widen(ScalarType dtype, const GatherPlan& from) {
  const Tensor same(make_tensor(from.sizes, dtype, Device(kCPU)));
  GatherPlan plan = from;
  plan.to = same.raw_data();
  plan.to_strides = row_major(from.sizes);
  gather(element_size(dtype), plan);
  return contiguous_cpu(same, kFloat);
}

Scalar rounded(const Scalar& alpha, ScalarType dtype) {
  return dtype == kHalf ? Scalar(static_cast<float>(alpha.to<Half>()))
                        : Scalar(static_cast<float>(alpha.to<BFloat16>()));
}

// Sums and products of half precision, made in float32 for the places that
// several elements go to. False where that is not needed: for other dtypes and
// joins, where the indices are no vector along the dim, and where each place
// gets one element.
bool scatter_wide(const char* op, ScalarType dtype, const ScatterPlan& plan,
                  Join join, const Scalar& alpha) {
  const bool sums = join == Join::Add || join == Join::Multiply;
  if (!sums || !is_reduced_floating_type(dtype) || !is_vector(plan)) {
    return false;
  }
  const int64_t dim = plan.dim, ndim = plan.sizes.size();
  const int64_t n = plan.sizes[dim], stride = plan.index_strides[dim];
  if (std::any_of(plan.sizes.begin(), plan.sizes.end(),
                  [](int64_t s) { return s == 0; })) {
    return false;
  }
  Indices64 at(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) {
    at[static_cast<size_t>(k)] = plan.index[k * stride];
  }
  Indices64 places = at;
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  if (places.size() == at.size() && alpha.equal(1)) return false;
  for (int64_t& k : at) {
    k = std::lower_bound(places.begin(), places.end(), k) - places.begin();
  }
  // The elements of the places and those of the source are joined in float32,
  // and the results go back to the places.
  Dims reached = plan.sizes, to = plan.to_strides;
  reached[dim] = static_cast<int64_t>(places.size());
  to[dim] = 0;
  const Dims one = only(dim, ndim), none = only(-1, ndim);
  const int64_t first = 0;
  const Tensor sum = widen(
      dtype, {reached, plan.to, to, places.data(), one, plan.step, {}, {}});
  const Tensor source = widen(
      dtype,
      {plan.sizes, plan.from, plan.from_strides, &first, none, 0, {}, {}});
  const Dims strides = row_major(reached);
  scatter(op, kFloat,
          {plan.sizes, dim, at.data(), one,
           strides[dim] * static_cast<int64_t>(sizeof(float)),
           source.raw_data(), row_major(plan.sizes), sum.raw_data(), strides},
          join, rounded(alpha, dtype));
  const Tensor back = contiguous_cpu(sum, dtype);
  scatter(op, dtype,
          {reached, dim, places.data(), one, plan.step, back.raw_data(),
           strides, plan.to, plan.to_strides},
          Join::Assign);
  return true;
}

}  // namespace

void scatter(const char* op, ScalarType dtype, const ScatterPlan& plan,
             Join join, const Scalar& alpha) {
  if (join == Join::Assign) {
    visit_element_size(element_size(dtype),
                       [&]<class T>() { run<T>(plan, Assign<T>()); });
    return;
  }
  if (scatter_wide(op, dtype, plan, join, alpha)) return;
  visit_all_dtypes(op, dtype, [&]<class T>() {
    switch (join) {
      case Join::Add: return run<T>(plan, Add<T>{alpha.to<T>()});
      case Join::Multiply: return run<T>(plan, Multiply<T>());
      case Join::Min: return run<T>(plan, Min<T>());
      default: return run<T>(plan, Max<T>());
    }
  });
}

}  // namespace sy::cpu
