// Means and sums of squared distances from them, in double.

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/tiles/moments.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/tiles/loop.inc"

HWY_BEFORE_NAMESPACE();
#include "backends/cpu/tiles/wide.inc"
namespace sy::cpu::tiles::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

constexpr int kWidth = HWY_MAX_BYTES / 8;
constexpr int kVectors = 256 / HWY_MAX_BYTES;
constexpr int64_t kLanes = kWidth * kVectors;

HWY_INLINE V load(const float* x) {
  return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<float, D>(), x));
}
HWY_INLINE V load(const double* x) { return hn::LoadU(D(), x); }

struct Same {
  static HWY_INLINE V lanes(V x, V) { return x; }
  static HWY_INLINE double f(double x, double) { return x; }
};
struct SquaredDistance {
  static HWY_INLINE V lanes(V x, V from) {
    const V d = hn::Sub(x, from);
    return hn::Mul(d, d);
  }
  static HWY_INLINE double f(double x, double from) {
    return (x - from) * (x - from);
  }
};

// Sums in 256 bytes of lanes that fold in halves; see [Tree of lanes] in
// reduce.cpp.
template <class F, class T>
HWY_INLINE double sum(const T* x, int64_t n, double from) {
  const D d;
  const V center = hn::Set(d, from);
  V lanes[kVectors];
#pragma GCC unroll 16
  for (int v = 0; v < kVectors; ++v) lanes[v] = hn::Zero(d);
  for (; n >= kLanes; n -= kLanes, x += kLanes) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      lanes[v] = hn::Add(lanes[v], F::lanes(load(x + v * kWidth), center));
    }
  }
  alignas(64) double last[kLanes];
  for (int v = 0; v < kVectors; ++v) hn::Store(lanes[v], d, last + v * kWidth);
  for (int64_t i = 0; i < n; ++i) {
    last[i] += F::f(static_cast<double>(x[i]), from);
  }
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    SY_TILE_LOOP
    for (int64_t i = 0; i < half; ++i) last[i] += last[i + half];
  }
  return last[0];
}

template <class T>
void moments(double* mean, double* m2, const void* x, int64_t n) {
  const T* p = static_cast<const T*>(x);
  *mean = sum<Same>(p, n, 0.0) / static_cast<double>(n);
  *m2 = sum<SquaredDistance>(p, n, *mean);
}

template <class T>
void moments_rows(double* mean, double* m2, const void* x, int64_t row_stride,
                  int64_t seen, int64_t rows, int64_t n) {
  const char* row = static_cast<const char*>(x);
  for (; rows > 0; --rows, row += row_stride) {
    const T* p = reinterpret_cast<const T*>(row);
    const double share = 1.0 / static_cast<double>(++seen);
    SY_TILE_LOOP
    for (int64_t j = 0; j < n; ++j) {
      const double v = static_cast<double>(p[j]);
      const double d = v - mean[j];
      mean[j] += d * share;
      m2[j] += d * (v - mean[j]);
    }
  }
}

void fill(KernelTable& t) {
  const auto f32 = static_cast<int>(ComputeType::f32);
  const auto f64 = static_cast<int>(ComputeType::f64);
  t.moments[f32] = &moments<float>;
  t.moments[f64] = &moments<double>;
  t.moments_rows[f32] = &moments_rows<float>;
  t.moments_rows[f64] = &moments_rows<double>;
}

}  // namespace
}  // namespace sy::cpu::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu::tiles {
void fill_moments(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }
}  // namespace sy::cpu::tiles
#endif
