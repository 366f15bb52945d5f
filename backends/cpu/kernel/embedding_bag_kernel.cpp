#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernel/embedding_bag_kernel.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/kernel/embedding_bag_kernel.h"
#include "backends/cpu/tiles/kernels.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sy::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#include "backends/cpu/kernel/lanes.inc"

// Four vectors of columns stay in registers while all rows are read: many rows
// are on their way from memory at once.
template <bool kWeighted, class T>
void add_rows(const T* const* rows, const T* weights, int64_t count, int64_t n,
              T* to) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto join = [&](auto sum, auto v, int64_t k) HWY_ATTR {
    return kWeighted ? hn::MulAdd(v, hn::Set(d, weights[k]), sum)
                     : hn::Add(sum, v);
  };
  int64_t j = 0;
  for (; j + 4 * lanes <= n; j += 4 * lanes) {
    auto a = hn::LoadU(d, to + j), b = hn::LoadU(d, to + j + lanes);
    auto c = hn::LoadU(d, to + j + 2 * lanes),
         e = hn::LoadU(d, to + j + 3 * lanes);
    for (int64_t k = 0; k < count; ++k) {
      const T* const row = rows[k] + j;
      a = join(a, hn::LoadU(d, row), k);
      b = join(b, hn::LoadU(d, row + lanes), k);
      c = join(c, hn::LoadU(d, row + 2 * lanes), k);
      e = join(e, hn::LoadU(d, row + 3 * lanes), k);
    }
    hn::StoreU(a, d, to + j);
    hn::StoreU(b, d, to + j + lanes);
    hn::StoreU(c, d, to + j + 2 * lanes);
    hn::StoreU(e, d, to + j + 3 * lanes);
  }
  for (; j < n; j += lanes) {
    const int64_t some = n - j < lanes ? n - j : lanes;
    auto sum = load_first(d, to + j, some);
    for (int64_t k = 0; k < count; ++k) {
      sum = join(sum, load_first(d, rows[k] + j, some), k);
    }
    store_first(sum, d, to + j, some);
  }
}

template <class T>
void add_any_rows(const T* const* rows, const T* weights, int64_t count,
                  int64_t n, T* to) {
  weights == nullptr ? add_rows<false>(rows, weights, count, n, to)
                     : add_rows<true>(rows, weights, count, n, to);
}

}  // namespace

template <class T>
AddRowsFn<T> row_sum() {
  return &add_any_rows<T>;
}
template AddRowsFn<float> row_sum<float>();
template AddRowsFn<double> row_sum<double>();

}  // namespace sy::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu {

template <class T>
AddRowsFn<T> add_rows_fn() {
  SY_TILE_RETURN(AddRowsFn<T>, row_sum<T>())
}
template AddRowsFn<float> add_rows_fn<float>();
template AddRowsFn<double> add_rows_fn<double>();

}  // namespace sy::cpu
#endif
