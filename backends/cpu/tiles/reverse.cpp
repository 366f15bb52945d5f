// Elements in the opposite order.

#include "backends/cpu/tiles/reverse.h"

#include <cstring>

#include "backends/cpu/tiles/element16.h"
#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/tiles/reverse.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/tiles/kernels.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sy::cpu::tiles::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Bytes are reversed as pairs whose halves then change places.
template <class D, class V>
HWY_INLINE V reversed(D d, V v) {
  if constexpr (sizeof(hn::TFromD<D>) == 1) {
    const hn::Repartition<uint16_t, D> pairs;
    const auto p = hn::Reverse(pairs, hn::BitCast(pairs, v));
    return hn::BitCast(d, hn::Or(hn::ShiftLeft<8>(p), hn::ShiftRight<8>(p)));
  } else {
    return hn::Reverse(d, v);
  }
}

template <class T>
void reverse(void* dst, const void* last, int64_t n) {
  const hn::ScalableTag<T> d;
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  T* to = static_cast<T*>(dst);
  const T* from = static_cast<const T*>(last) + 1;  // behind the rest
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    from -= step;
    hn::StoreU(reversed(d, hn::LoadU(d, from)), d, to + i);
  }
  for (; i < n; ++i) to[i] = *--from;
}

}  // namespace

ReverseFn reverse_of(size_t element_size) {
  switch (element_size) {
    case 1: return &reverse<uint8_t>;
    case 2: return &reverse<uint16_t>;
    case 4: return &reverse<uint32_t>;
    default: return &reverse<uint64_t>;
  }
}

}  // namespace sy::cpu::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu::tiles {

namespace {

void reverse16(void* dst, const void* last, int64_t n) {
  const auto* const from = static_cast<const Element16*>(last);
  for (int64_t i = 0; i < n; ++i) static_cast<Element16*>(dst)[i] = from[-i];
}

}  // namespace

ReverseFn reverse_fn(size_t element_size) noexcept {
  if (element_size == 16) return &reverse16;
  switch (active_isa()) {
    case Isa::sse4: return N_SSE4::reverse_of(element_size);
    case Isa::avx2: return N_AVX2::reverse_of(element_size);
    default: return N_AVX3::reverse_of(element_size);
  }
}

}  // namespace sy::cpu::tiles
#endif
