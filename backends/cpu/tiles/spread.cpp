// One element in many places.

#include "backends/cpu/tiles/spread.h"

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/tiles/spread.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/tiles/kernels.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sy::cpu::tiles::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
void spread(void* dst, const void* element, int64_t n) {
  const hn::ScalableTag<T> d;
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  if (n <= 0) return;
  T* const to = static_cast<T*>(dst);
  const T one = *static_cast<const T*>(element);
  const auto v = hn::Set(d, one);
  int64_t i = 0;
  for (; i + 4 * step <= n; i += 4 * step) {
    hn::StoreU(v, d, to + i);
    hn::StoreU(v, d, to + i + step);
    hn::StoreU(v, d, to + i + 2 * step);
    hn::StoreU(v, d, to + i + 3 * step);
  }
  for (; i + step <= n; i += step) hn::StoreU(v, d, to + i);
  for (; i < n; ++i) to[i] = one;
}

}  // namespace

SpreadFn spread_of(size_t element_size) {
  switch (element_size) {
    case 1: return &spread<uint8_t>;
    case 2: return &spread<uint16_t>;
    case 4: return &spread<uint32_t>;
    default: return &spread<uint64_t>;
  }
}

}  // namespace sy::cpu::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu::tiles {

SpreadFn spread_fn(size_t element_size) noexcept {
  switch (active_isa()) {
    case Isa::sse4: return N_SSE4::spread_of(element_size);
    case Isa::avx2: return N_AVX2::spread_of(element_size);
    default: return N_AVX3::spread_of(element_size);
  }
}

}  // namespace sy::cpu::tiles
#endif
