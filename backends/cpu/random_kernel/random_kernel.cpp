#include <bit>
#include <cstring>
#include <type_traits>

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/random_kernel/random_kernel.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/random_kernel/random_kernel.h"
#include "backends/cpu/tiles/kernels.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
#include "backends/cpu/tiles/wide.inc"
namespace sy::cpu::HWY_NAMESPACE {
namespace {

// Before a loop of kPairs or kPhiloxLanes: gcc would unroll it before it makes
// vector code of it.
#if defined(__clang__)
#define SY_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define SY_LANES _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#endif

void philox_words(uint64_t seed, uint64_t offset, int64_t blocks,
                  uint32_t* words) {
  constexpr int kLanes = kPhiloxLanes;
  for (int64_t b = 0; b < blocks; b += kLanes) {
    uint32_t c0[kLanes], c1[kLanes], c2[kLanes] = {}, c3[kLanes] = {};
    auto k0 = static_cast<uint32_t>(seed);
    auto k1 = static_cast<uint32_t>(seed >> 32);
    SY_LANES
    for (int l = 0; l < kLanes; ++l) {
      const uint64_t at = offset + static_cast<uint64_t>(b + l);
      c0[l] = static_cast<uint32_t>(at);
      c1[l] = static_cast<uint32_t>(at >> 32);
    }
    for (int round = 0; round < 10; ++round) {
      // The same as detail::philox_round.
      SY_LANES
      for (int l = 0; l < kLanes; ++l) {
        const uint64_t p0 = uint64_t{sy::detail::kPhiloxFactors[0]} * c0[l];
        const uint64_t p1 = uint64_t{sy::detail::kPhiloxFactors[1]} * c2[l];
        c0[l] = static_cast<uint32_t>(p1 >> 32) ^ c1[l] ^ k0;
        c2[l] = static_cast<uint32_t>(p0 >> 32) ^ c3[l] ^ k1;
        c1[l] = static_cast<uint32_t>(p1);
        c3[l] = static_cast<uint32_t>(p0);
      }
      k0 += sy::detail::kPhiloxSteps[0];
      k1 += sy::detail::kPhiloxSteps[1];
    }
    uint32_t* const to = words + b * 4;
    SY_LANES
    for (int l = 0; l < kLanes; ++l) {
      to[4 * l] = c0[l];
      to[4 * l + 1] = c1[l];
      to[4 * l + 2] = c2[l];
      to[4 * l + 3] = c3[l];
    }
  }
}

HWY_INLINE float root(float x) { return __builtin_sqrtf(x); }
HWY_INLINE double root(double x) { return __builtin_sqrt(x); }

// kPairs numbers side by side: loops of constant length, which the compiler
// makes vector code of.
constexpr int kPairs = kNormals / 2;
template <class A>
using Lanes = A[kPairs];

// The natural logarithm of x in (0, 1]: x = m 2^e with m near 1, and
// log m = 2 artanh((m - 1) / (m + 1)) by its series.
template <class A>
void take_log(Lanes<A>& x) {
  constexpr bool kWide = sizeof(A) == 8;
  using Bits = std::conditional_t<kWide, int64_t, int32_t>;
  constexpr int kMantissa = kWide ? 52 : 23;
  constexpr Bits kHalfRoot = std::bit_cast<Bits>(A(0.7071067811865476));
  constexpr int kTerms = kWide ? 12 : 5;
  Lanes<A> s, z, e, sum;
  SY_LANES
  for (int l = 0; l < kPairs; ++l) {
    // Counted from the root of one half, so that m is in [0.71, 1.42).
    const Bits from = std::bit_cast<Bits>(x[l]) - kHalfRoot;
    const Bits exponent = from >> kMantissa;
    e[l] = static_cast<A>(static_cast<int>(exponent));
    const A m =
        std::bit_cast<A>((from & ((Bits{1} << kMantissa) - 1)) + kHalfRoot);
    s[l] = (m - 1) / (m + 1);
    z[l] = s[l] * s[l];
    sum[l] = 0;
  }
  for (int k = kTerms; k > 0; --k) {
    const A term = A(2) / A(2 * k + 1);
    SY_LANES
    for (int l = 0; l < kPairs; ++l) sum[l] = (sum[l] + term) * z[l];
  }
  SY_LANES
  for (int l = 0; l < kPairs; ++l) {
    x[l] = e[l] * A(0.6931471805599453) + s[l] * (2 + sum[l]);
  }
}

// Sine and cosine of u turns, u in [0, 1): the nearest quarter taken away, the
// series, the quarter put back.
template <class A>
void take_sine_cosine(const Lanes<A>& u, Lanes<A>& sine, Lanes<A>& cosine) {
  constexpr int kTerms = sizeof(A) == 8 ? 9 : 5;
  int quarter[kPairs];
  Lanes<A> x, z, s, c;
  SY_LANES
  for (int l = 0; l < kPairs; ++l) {
    quarter[l] = static_cast<int>(u[l] * 4 + A(0.5));
    x[l] = (u[l] * 4 - static_cast<A>(quarter[l])) * A(1.5707963267948966);
    z[l] = x[l] * x[l];
    s[l] = c[l] = 1;
  }
  for (int k = kTerms; k > 0; --k) {
    const A for_sine = A(1) / A(2 * k * (2 * k + 1));
    const A for_cosine = A(1) / A(2 * k * (2 * k - 1));
    SY_LANES
    for (int l = 0; l < kPairs; ++l) {
      s[l] = 1 - s[l] * z[l] * for_sine;
      c[l] = 1 - c[l] * z[l] * for_cosine;
    }
  }
  SY_LANES
  for (int l = 0; l < kPairs; ++l) {
    const A in = s[l] * x[l], co = c[l];
    const bool swap = (quarter[l] & 1) != 0;
    const A a = swap ? co : in, b = swap ? in : co;
    sine[l] = (quarter[l] & 2) != 0 ? -a : a;
    cosine[l] = ((quarter[l] + 1) & 2) != 0 ? -b : b;
  }
}

// 2 kPairs numbers of the standard normal distribution.
template <class A>
void take_normal(const uint32_t* words, A* to) {
  constexpr int kWords = kWordsOf<A>;
  Lanes<A> radius, turn, s, c;
  SY_LANES
  for (int l = 0; l < kPairs; ++l) {
    radius[l] = 1 - unit<A>(words + 2 * kWords * l);
    turn[l] = unit<A>(words + 2 * kWords * l + kWords);
  }
  take_log<A>(radius);
  take_sine_cosine<A>(turn, s, c);
  SY_LANES
  for (int l = 0; l < kPairs; ++l) {
    // Not -0, nor less by rounding, where the logarithm is 0.
    const A square = radius[l] < 0 ? -2 * radius[l] : A(0);
    radius[l] = root(square);
  }
  SY_LANES
  for (int l = 0; l < kPairs; ++l) {
    to[2 * l] = radius[l] * c[l];
    to[2 * l + 1] = radius[l] * s[l];
  }
}

template <class A>
void normal_numbers(const uint32_t* words, int64_t n, A* to) {
  for (int64_t i = 0; i < n; i += kNormals) {
    take_normal<A>(words + kWordsOf<A> * i, to + i);
  }
}

#undef SY_LANES

}  // namespace

RandomKernels kernels() {
  return {&philox_words, &normal_numbers<float>, &normal_numbers<double>};
}

}  // namespace sy::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu {

const RandomKernels& random_kernels() {
  SY_TILE_RETURN(RandomKernels, kernels())
}

}  // namespace sy::cpu
#endif
