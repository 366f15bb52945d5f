// Numbers taken apart by their bits. SY_ELEMENT is the dtype.

#include "element.cuh"
#include "number_params.cuh"
#include "places.cuh"

#ifndef SY_ELEMENT
#define SY_ELEMENT float
#endif

using Element = SY_ELEMENT;
using Bits = functors::std::make_unsigned_t<Element>;
constexpr Bits kSignBit = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));

// x = m 2^e with m in [0.5, 1); 0, infinities and NaN stay, with e = 0. Every
// float is a double.
__device__ __forceinline__ double mantissa_of(double x, int* exponent) {
  constexpr int kDigits = 52, kBias = 1022;
  *exponent = 0;
  if (x == 0 || x != x || x - x != 0) return x;
  int scaled = 0;
  if (__builtin_bit_cast(uint64_t, x) << 1 >> (kDigits + 1) == 0) {
    x *= 0x1p54;  // denormal
    scaled = 54;
  }
  const auto bits = __builtin_bit_cast(uint64_t, x);
  *exponent = static_cast<int>(bits << 1 >> (kDigits + 1)) - kBias - scaled;
  return __builtin_bit_cast(double, (bits & ~(uint64_t{0x7ff} << kDigits)) |
                                        uint64_t{kBias} << kDigits);
}

SY_KERNEL(take_apart, NumberParams, 256) {
  for (int64_t i = first_index(); i < p.walk.numel; i += index_stride()) {
    int64_t at[3];
    places(p.walk, i, at);
    int exponent;
    const auto x = *reinterpret_cast<const Element*>(p.data[2] + at[2]);
    *reinterpret_cast<Element*>(p.data[0] + at[0]) =
        element_cast<Element>(mantissa_of(element_cast<double>(x), &exponent));
    *reinterpret_cast<int32_t*>(p.data[1] + at[1]) = exponent;
  }
}

// The neighbour of 0 is the smallest number; else bits count upwards from 0.
__device__ __forceinline__ Element next_after(Element a, Element b) {
  using Wide =
      functors::std::conditional_t<sizeof(Element) == 8, double, float>;
  const Wide x = element_cast<Wide>(a), y = element_cast<Wide>(b);
  if (x != x || y != y) return element_cast<Element>(x + y);
  if (x == y) return b;
  auto bits = __builtin_bit_cast(Bits, a);
  if (x == 0) {
    bits = static_cast<Bits>(y < 0 ? kSignBit | 1 : 1);
  } else {
    bits = static_cast<Bits>((x < y) == (x > 0) ? bits + 1 : bits - 1);
  }
  return __builtin_bit_cast(Element, bits);
}

SY_KERNEL(step_towards, NumberParams, 256) {
  for (int64_t i = first_index(); i < p.walk.numel; i += index_stride()) {
    int64_t at[3];
    places(p.walk, i, at);
    *reinterpret_cast<Element*>(p.data[0] + at[0]) =
        next_after(*reinterpret_cast<const Element*>(p.data[1] + at[1]),
                   *reinterpret_cast<const Element*>(p.data[2] + at[2]));
  }
}
