#include "backends/cpu/engine/scan_known.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "backends/cpu/support/dtype_switch.h"
#include "backends/cpu/support/sort_key.h"
#include "backends/cpu/tiles/kernels.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

using lang::Prim;

constexpr int64_t kGrain = 16384;

enum class Kind : uint8_t { kNone, kSum, kProduct, kMax, kMin };

// Register 0 is what was found so far, 1 the next element.
Kind kind_of(const ScanOp& op) {
  const program::Program& p = op.combine.body;
  const auto steps = [&](int i) { return p.steps[i]; };
  if (!op.chooses) {
    if (p.n_steps != 1 || steps(0).a + steps(0).b != 1) return Kind::kNone;
    return steps(0).op == Prim::add   ? Kind::kSum
           : steps(0).op == Prim::mul ? Kind::kProduct
                                      : Kind::kNone;
  }
  // isnan(b) or b >= a
  if (p.n_steps != 3 || steps(0).op != Prim::isnan || steps(0).a != 1 ||
      steps(2).op != Prim::logical_or ||
      std::min(steps(2).a, steps(2).b) !=
          std::min(steps(0).dst, steps(1).dst) ||
      std::max(steps(2).a, steps(2).b) !=
          std::max(steps(0).dst, steps(1).dst)) {
    return Kind::kNone;
  }
  const bool turned = steps(1).a == 0 && steps(1).b == 1;
  if (!turned && !(steps(1).a == 1 && steps(1).b == 0)) return Kind::kNone;
  if (steps(1).op == Prim::ge) return turned ? Kind::kMin : Kind::kMax;
  if (steps(1).op == Prim::le) return turned ? Kind::kMax : Kind::kMin;
  return Kind::kNone;
}

// Integers wrap around.
template <class T, bool kWide>
using Sum = std::conditional_t<
    std::is_integral_v<T>, uint64_t,
    std::conditional_t<kWide, double, typename Accumulate<T>::type>>;

// n elements of several rows side by side, as each sum waits for the one before
// it; rows are `row` elements apart.
template <bool kProduct, int kRows, class A, class T>
void add_up(const T* x, int64_t row, int64_t n, A* sums, T* y) {
  A acc[kRows];
  std::copy(sums, sums + kRows, acc);
  const auto next = [&](int r, int64_t j) {
    const A v = static_cast<A>(x[r * row + j]);
    acc[r] = kProduct ? acc[r] * v : acc[r] + v;
    y[r * row + j] =
        static_cast<T>(static_cast<typename Accumulate<T>::type>(acc[r]));
  };
  // Unrolled here, or GCC keeps a sum of one row in memory.
  [&]<int... r>(std::integer_sequence<int, r...>) {
    for (int64_t j = 0; j < n; ++j) (next(r, j), ...);
  }
  (std::make_integer_sequence<int, kRows>());
  std::copy(acc, acc + kRows, sums);
}

// Whole rows; half precision a piece at a time, for vectors to convert.
template <bool kProduct, class A, int kRows, class T>
void add_up_whole(const T* x, int64_t n, T* y) {
  A acc[kRows];
  std::fill(acc, acc + kRows, static_cast<A>(kProduct ? 1 : 0));
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    constexpr int64_t kPiece = 512;
    constexpr ScalarType kType = CppTypeToScalarType<T>::value;
    const auto widen = tiles::convert_fn(kType, kFloat);
    const auto narrow = tiles::convert_fn(kFloat, kType);
    float room[kRows * kPiece];
    for (int64_t j = 0; j < n; j += kPiece) {
      const int64_t m = std::min(kPiece, n - j);
      for (int r = 0; r < kRows; ++r) widen(room + r * m, x + r * n + j, m);
      add_up<kProduct, kRows>(room, m, m, acc, room);
      for (int r = 0; r < kRows; ++r) narrow(y + r * n + j, room + r * m, m);
    }
  } else {
    add_up<kProduct, kRows>(x, n, n, acc, y);
  }
}

template <bool kMax, class T>
void choose(const T* x, int64_t n, T* y, int64_t* places) {
  T best = x[0];
  int64_t place = 0;
  for (int64_t j = 0; j < n; ++j) {
    const T v = x[j];
    if (is_nan(v) || (kMax ? v >= best : v <= best)) {
      best = v;
      place = j;
    }
    y[j] = best;
    places[j] = place;
  }
}

template <bool kProduct, class A, class T>
void add_up_rows(const T* x, RowCount count, T* y) {
  constexpr int kRows = 4;
  const int64_t n = count.length, groups = (count.rows + kRows - 1) / kRows;
  parallel_for(0, groups, std::max<int64_t>(1, kGrain / (kRows * n)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t g = begin; g < end; ++g) {
                   const int64_t at = g * kRows * n;
                   if ((g + 1) * kRows <= count.rows) {
                     add_up_whole<kProduct, A, kRows>(x + at, n, y + at);
                     continue;
                   }
                   for (int64_t i = at; i < count.rows * n; i += n) {
                     add_up_whole<kProduct, A, 1>(x + i, n, y + i);
                   }
                 }
               });
}

}  // namespace

bool knows_scan(const ScanOp& op, const ScanPlan& plan) {
  return plan.result != kBool && kind_of(op) != Kind::kNone;
}

void scan_known(const ScanOp& op, const ScanPlan& plan, const Tensor& rows,
                RowCount count, void* values, void* places) {
  const Kind kind = kind_of(op);
  const bool wide = plan.compute == kDouble;
  visit_all_dtypes(op.name, plan.result, [&]<class T>() {
    if constexpr (!std::is_same_v<T, bool>) {
      const auto* x = static_cast<const T*>(rows.raw_data());
      auto* y = static_cast<T*>(values);
      if (!op.chooses) {
        const auto run = [&]<class A>(A) {
          kind == Kind::kSum ? add_up_rows<false, A>(x, count, y)
                             : add_up_rows<true, A>(x, count, y);
        };
        wide ? run(Sum<T, true>()) : run(Sum<T, false>());
        return;
      }
      auto* at = static_cast<int64_t*>(places);
      const int64_t n = count.length;
      parallel_for(0, count.rows, std::max<int64_t>(1, kGrain / n),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) {
                       kind == Kind::kMax
                           ? choose<true>(x + i * n, n, y + i * n, at + i * n)
                           : choose<false>(x + i * n, n, y + i * n, at + i * n);
                     }
                   });
    }
  });
}

}  // namespace sy::cpu
