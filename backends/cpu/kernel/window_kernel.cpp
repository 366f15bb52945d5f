#include "backends/cpu/kernel/window_kernel.h"

#include <limits>
#include <type_traits>

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernel/window_kernel.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/kernel/row_kernel.h"
#include "backends/cpu/tiles/kernels.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sy::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
#include "backends/cpu/kernel/lanes.inc"
#include "backends/cpu/kernel/narrow_lanes.inc"

// The first n elements if kWhole is not set.
template <bool kWhole, class D, class E>
HWY_INLINE hn::Vec<D> load(D d, const E* p, int64_t n) {
  return kWhole ? load_as(d, p) : load_as(d, p, n);
}

template <bool kWhole, class D, class T>
HWY_INLINE void store_same(hn::Vec<D> v, D d, T* p, int64_t n) {
  if constexpr (kWhole) {
    hn::StoreU(v, d, p);
  } else {
    store_first(v, d, p, n);
  }
}

// Rounded to the nearest, to an even one where there are two.
template <bool kWhole, class D, class E>
HWY_INLINE void store(hn::Vec<D> v, D d, E* p, int64_t n) {
  const hn::Rebind<uint16_t, D> bits;
  if constexpr (std::is_same_v<E, hn::TFromD<D>>) {
    store_same<kWhole>(v, d, p, n);
  } else if constexpr (std::is_same_v<E, BFloat16>) {
    const hn::RebindToUnsigned<D> wide;
    const hn::RebindToSigned<D> lanes;
    const auto x = hn::BitCast(wide, v);
    const auto odd = hn::And(hn::ShiftRight<16>(x), hn::Set(wide, 1u));
    const auto rounded = hn::Add(x, hn::Add(odd, hn::Set(wide, 0x7fffu)));
    const auto nan = hn::Or(x, hn::Set(wide, 0x400000u));
    const auto kept = hn::ShiftRight<16>(
        hn::IfThenElse(hn::RebindMask(wide, hn::IsNaN(v)), nan, rounded));
    store_same<kWhole>(hn::DemoteTo(bits, hn::BitCast(lanes, kept)), bits,
                       &p->bits, n);
  } else {
#if HWY_TARGET == HWY_SSE4
    HWY_ALIGN float room[hn::MaxLanes(D())];
    hn::Store(v, d, room);
    for (int64_t i = 0; i < n; ++i) p[i] = Half(room[i]);
#else
    const hn::Rebind<hwy::float16_t, D> small;
    store_same<kWhole>(hn::BitCast(bits, hn::DemoteTo(small, v)), bits,
                       &p->bits, n);
#endif
  }
}

template <class T>
constexpr T least() {
  return std::numeric_limits<T>::has_infinity
             ? -std::numeric_limits<T>::infinity()
             : std::numeric_limits<T>::lowest();
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE auto is_taken(D, V v, V best) {
  if constexpr (std::is_floating_point_v<hn::TFromD<D>>) {
    return hn::Or(hn::Gt(v, best), hn::IsNaN(v));
  } else {
    return hn::Gt(v, best);
  }
}

template <class D, class T = hn::TFromD<D>, class V = hn::Vec<D>>
HWY_INLINE V divided(D d, V v, T divisor) {
  if constexpr (std::is_floating_point_v<T>) {
    return hn::Div(v, hn::Set(d, divisor));
  } else {
    HWY_ALIGN T room[hn::MaxLanes(D())];
    hn::Store(v, d, room);
    for (T& x : room) x /= divisor;
    return hn::Load(d, room);
  }
}

struct Mean {
  template <int kVectors, bool kWhole, class D, class E,
            class T = hn::TFromD<D>>
  static HWY_INLINE void channels(D d, const E* image, const WindowPlaces& w,
                                  int64_t c, int64_t n, T divisor, E* to) {
    constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(D()));
    hn::Vec<D> sums[kVectors];
    for (auto& s : sums) s = hn::Zero(d);
    for (int64_t k = 0; k < w.count; ++k) {
      const E* const p = image + w.at[k] * w.channels + c;
      for (int v = 0; v < kVectors; ++v) {
        sums[v] = hn::Add(sums[v], load<kWhole>(d, p + v * kLanes, n));
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      const auto mean = divided(d, sums[v], divisor);
      store<kWhole>(mean, d, to + c + v * kLanes, n);
    }
  }
};

struct Largest {
  template <int kVectors, bool kWhole, class D, class E,
            class T = hn::TFromD<D>>
  static HWY_INLINE void channels(D d, const E* image, const WindowPlaces& w,
                                  int64_t c, int64_t n, E* to) {
    constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(D()));
    hn::Vec<D> best[kVectors];
    for (auto& b : best) b = hn::Set(d, least<T>());
    for (int64_t k = 0; k < w.count; ++k) {
      const E* const p = image + w.at[k] * w.channels + c;
      for (int v = 0; v < kVectors; ++v) {
        const auto x = load<kWhole>(d, p + v * kLanes, n);
        best[v] = hn::IfThenElse(is_taken(d, x, best[v]), x, best[v]);
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      store<kWhole>(best[v], d, to + c + v * kLanes, n);
    }
  }
};

struct LargestAt {
  template <int kVectors, bool kWhole, class D, class E,
            class T = hn::TFromD<D>>
  static HWY_INLINE void channels(D d, const E* image, const WindowPlaces& w,
                                  int64_t c, int64_t n, int64_t start, E* to,
                                  int64_t* at) {
    using Index = IndexAsWide<T>;
    constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(D()));
    const hn::Rebind<Index, D> di;
    hn::Vec<D> best[kVectors];
    hn::Vec<decltype(di)> where[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      best[v] = hn::Set(d, least<T>());
      where[v] = hn::Set(di, static_cast<Index>(start));
    }
    for (int64_t k = 0; k < w.count; ++k) {
      const int64_t place = w.at[k];
      const E* const p = image + place * w.channels + c;
      const auto here = hn::Set(di, static_cast<Index>(place));
      for (int v = 0; v < kVectors; ++v) {
        const auto x = load<kWhole>(d, p + v * kLanes, n);
        const auto taken = is_taken(d, x, best[v]);
        best[v] = hn::IfThenElse(taken, x, best[v]);
        where[v] = hn::IfThenElse(hn::RebindMask(di, taken), here, where[v]);
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      store<kWhole>(best[v], d, to + c + v * kLanes, n);
      HWY_ALIGN Index room[kLanes];
      hn::Store(where[v], di, room);
      int64_t* const out = at + c + v * kLanes;
      for (int64_t i = 0; i < (kWhole ? kLanes : n); ++i) out[i] = room[i];
    }
  }
};

struct Share {
  template <int kVectors, bool kWhole, class D, class T>
  static HWY_INLINE void channels(D d, T* image, const WindowPlaces& w,
                                  int64_t c, int64_t n, T divisor,
                                  const T* from) {
    constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(D()));
    hn::Vec<D> shares[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      const auto x = load<kWhole>(d, from + c + v * kLanes, n);
      shares[v] = divided(d, x, divisor);
    }
    for (int64_t k = 0; k < w.count; ++k) {
      T* const p = image + w.at[k] * w.channels + c;
      for (int v = 0; v < kVectors; ++v) {
        T* const to = p + v * kLanes;
        store<kWhole>(hn::Add(load<kWhole>(d, to, n), shares[v]), d, to, n);
      }
    }
  }
};

// Four vectors of channels at a time, then one, then what is left.
template <class What, class E, class... Rest>
void window(E* image, const WindowPlaces& w, Rest... rest) {
  const hn::ScalableTag<typename Accumulate<std::remove_const_t<E>>::type> d;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(d));
  int64_t c = 0;
  for (; c + 4 * kLanes <= w.channels; c += 4 * kLanes) {
    What::template channels<4, true>(d, image, w, c, kLanes, rest...);
  }
  for (; c + kLanes <= w.channels; c += kLanes) {
    What::template channels<1, true>(d, image, w, c, kLanes, rest...);
  }
  if (c < w.channels) {
    What::template channels<1, false>(d, image, w, c, w.channels - c, rest...);
  }
}

}  // namespace

template <class E>
WindowKernels<E> windows() {
  using T = typename Accumulate<E>::type;
  WindowKernels<E> out{
      &window<Mean, const E, T, E*>, &window<Largest, const E, E*>,
      &window<LargestAt, const E, int64_t, E*, int64_t*>, nullptr};
  if constexpr (std::is_same_v<E, T>) {
    out.share = &window<Share, E, T, const T*>;
  }
  return out;
}
template WindowKernels<float> windows<float>();
template WindowKernels<double> windows<double>();
template WindowKernels<int64_t> windows<int64_t>();
template WindowKernels<Half> windows<Half>();
template WindowKernels<BFloat16> windows<BFloat16>();

}  // namespace sy::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu {

template <class E>
const WindowKernels<E>& window_kernels() {
  SY_TILE_RETURN(WindowKernels<E>, windows<E>())
}
template const WindowKernels<float>& window_kernels<float>();
template const WindowKernels<double>& window_kernels<double>();
template const WindowKernels<int64_t>& window_kernels<int64_t>();
template const WindowKernels<Half>& window_kernels<Half>();
template const WindowKernels<BFloat16>& window_kernels<BFloat16>();

}  // namespace sy::cpu
#endif
