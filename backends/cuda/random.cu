// Random numbers, those of the CPU for the same seed (backends/cpu/random.cpp
// says which words an element takes). Compiled for one dtype of elements:
//   SY_ELEMENT  its type (element.cuh)
//   SY_DIGITS   how many binary digits it has, if it is floating

#include "element.cuh"
#include "philox.cuh"
#include "random_params.cuh"

#ifndef SY_ELEMENT
#define SY_ELEMENT float
#define SY_DIGITS 24
#endif

using Element = SY_ELEMENT;
// The type that narrow floats are computed in.
using Wide =
    functors::std::conditional_t<functors::std::is_same_v<Element, double>,
                                 double, float>;
[[maybe_unused]] constexpr bool kDouble =
    functors::std::is_same_v<Element, double>;

// f(words, element) for each element; kWords words are its own, and a thread
// has those of a block.
template <int kWords, class F>
__device__ __forceinline__ void draw(const DrawParams& p, const F& f) {
  constexpr int kEach = 4 / kWords;
  const int64_t blocks = (p.n + kEach - 1) / kEach;
  for (int64_t b = first_index(); b < blocks; b += index_stride()) {
    const PhiloxBlock block =
        philox_block(p.seed, p.offset + static_cast<uint64_t>(b));
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const int64_t i = b * kEach + k;
      if (i < p.n) f(block.word + k * kWords, i);
    }
  }
}

// Whole numbers. Rounding must not reach the bound.
SY_KERNEL(draw_whole, DrawParams, 256) {
  auto* const out = static_cast<Element*>(p.out);
  draw<2>(p, [&](const uint32_t* words, int64_t i) {
    const auto v = static_cast<int64_t>(static_cast<uint64_t>(p.from) +
                                        below(joined(words), p.count));
    Element e = element_cast<Element>(v);
    if (SY_DIGITS != 0 &&
        element_cast<double>(e) > static_cast<double>(p.last)) {
      e = element_cast<Element>(static_cast<int64_t>(p.from));
    }
    out[i] = e;
  });
}

SY_KERNEL(draw_bernoulli, DrawParams, 256) {
  auto* const out = static_cast<Element*>(p.out);
  draw<2>(p, [&](const uint32_t* words, int64_t i) {
    double chance = p.low;
    if (p.chances != nullptr) {
      chance = p.chances[i];
      if (!(chance >= 0 && chance <= 1)) {
        report(p.head, Fault::kProbability, 0,
               __builtin_bit_cast(long long, chance), 1);
      }
    }
    out[i] = element_cast<Element>(
        static_cast<uint8_t>(even_double(words) < chance ? 1 : 0));
  });
}

#if SY_DIGITS != 0

// A number in [0, 1), with as many digits as the type holds.
template <class T, int kDigits>
__device__ __forceinline__ T unit(const uint32_t* words) {
  if constexpr (sizeof(T) == 8) {
    return even_double(words);
  } else {
    constexpr float kScale = 1.0f / static_cast<float>(uint32_t{1} << kDigits);
    return static_cast<float>(words[0] >> (32 - kDigits)) * kScale;
  }
}

SY_KERNEL(draw_uniform, DrawParams, 256) {
  auto* const out = static_cast<Element*>(p.out);
  const Wide low = static_cast<Wide>(p.low);
  const Wide range = static_cast<Wide>(p.high - p.low);
  draw<kDouble ? 2 : 1>(p, [&](const uint32_t* words, int64_t i) {
    const Wide u = unit < Wide, SY_DIGITS == 53 ? 24 : SY_DIGITS > (words);
    const Element v = element_cast<Element>(u * range + low);
    // Rounding must not reach the bound.
    out[i] = static_cast<double>(element_cast<Wide>(v)) >= p.high
                 ? element_cast<Element>(low)
                 : v;
  });
}

template <class To, class From>
__device__ __forceinline__ To bits_as(From x) {
  return __builtin_bit_cast(To, x);
}

// The natural logarithm of x in (0, 1]: x = m 2^e with m near 1, and
// log m = 2 artanh((m - 1) / (m + 1)) by its series, as the CPU's kernel sums
// it.
template <class A>
__device__ __forceinline__ A log_of(A x) {
  constexpr bool kWide = sizeof(A) == 8;
  using Bits = functors::std::conditional_t<kWide, int64_t, int32_t>;
  constexpr int kMantissa = kWide ? 52 : 23;
  constexpr Bits kHalfRoot =
      __builtin_bit_cast(Bits, static_cast<A>(0.7071067811865476));
  constexpr int kTerms = kWide ? 12 : 5;
  const Bits from = bits_as<Bits>(x) - kHalfRoot;
  const A e = static_cast<A>(static_cast<int>(from >> kMantissa));
  const A m = bits_as<A>((from & ((Bits{1} << kMantissa) - 1)) + kHalfRoot);
  const A s = (m - 1) / (m + 1);
  const A z = s * s;
  A sum = 0;
#pragma unroll
  for (int k = kTerms; k > 0; --k) sum = (sum + A(2) / A(2 * k + 1)) * z;
  return e * A(0.6931471805599453) + s * (2 + sum);
}

// The sine and cosine of u turns, u in [0, 1): the series of u less the nearest
// quarter, and that quarter put back.
template <class A>
__device__ __forceinline__ void sine_cosine(A u, A* sine, A* cosine) {
  constexpr int kTerms = sizeof(A) == 8 ? 9 : 5;
  const int quarter = static_cast<int>(u * 4 + A(0.5));
  const A x = (u * 4 - static_cast<A>(quarter)) * A(1.5707963267948966);
  const A z = x * x;
  A s = 1, c = 1;
#pragma unroll
  for (int k = kTerms; k > 0; --k) {
    s = 1 - s * z * (A(1) / A(2 * k * (2 * k + 1)));
    c = 1 - c * z * (A(1) / A(2 * k * (2 * k - 1)));
  }
  const A in = s * x;
  const bool swap = (quarter & 1) != 0;
  const A a = swap ? c : in, b = swap ? in : c;
  *sine = (quarter & 2) != 0 ? -a : a;
  *cosine = ((quarter + 1) & 2) != 0 ? -b : b;
}

__device__ __forceinline__ float root(float x) { return sqrtf(x); }
__device__ __forceinline__ double root(double x) { return sqrt(x); }

// Pairs by the method of Box and Muller.
SY_KERNEL(draw_normal, DrawParams, 256) {
  auto* const out = static_cast<Element*>(p.out);
  const Wide mean = static_cast<Wide>(p.low), width = static_cast<Wide>(p.high);
  constexpr int kWords = kDouble ? 2 : 1;
  const auto put = [&](int64_t i, Wide v) {
    if (i < p.n) out[i] = element_cast<Element>(v * width + mean);
  };
  draw<2 * kWords>(
      [&] {
        DrawParams pairs = p;
        pairs.n = (p.n + 1) / 2;
        return pairs;
      }(),
      [&](const uint32_t* words, int64_t pair) {
        const Wide log = log_of(1 - unit<Wide, 24>(words));
        Wide s, c;
        sine_cosine(unit<Wide, 24>(words + kWords), &s, &c);
        // The radius is 0, not -0 or less by rounding, where the logarithm is
        // 0.
        const Wide radius = root(log < 0 ? -2 * log : Wide(0));
        put(2 * pair, radius * c);
        put(2 * pair + 1, radius * s);
      });
}

#endif  // SY_DIGITS != 0
