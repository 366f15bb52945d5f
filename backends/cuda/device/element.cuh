#pragma once

#include "std.cuh"

// Elements in memory, what they are in registers, and accesses of 16 bytes.

namespace sy::cuda {

namespace functors {
#include "aten/program/functors/convert.inc"
}  // namespace functors

// The element of a bool tensor. Its register is a bool8.
using bool_byte = functors::BoolByte;

struct half16 {
  uint16_t bits;
};
struct bfloat16 {
  uint16_t bits;
};

// Float conversions round to nearest, ties to even, and keep NaN
// (c10/tensor/half.h).
#ifdef __CUDA_ARCH__
__device__ __forceinline__ float to_float(half16 x) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x.bits));
  return f;
}
__device__ __forceinline__ half16 to_half(float x) {
  half16 h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(x));
  return h;
}
#else
__device__ inline float to_float(half16 x) {
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000u) << 16;
  const uint32_t exponent = (x.bits >> 10) & 0x1fu;
  const uint32_t mantissa = x.bits & 0x3ffu;
  uint32_t bits = sign | ((exponent + 112u) << 23) | (mantissa << 13);
  if (exponent == 0x1fu) bits = sign | 0x7f800000u | (mantissa << 13);
  if (exponent == 0) {
    const float size = static_cast<float>(mantissa) * 0x1p-24f;
    bits = sign | __builtin_bit_cast(uint32_t, size);
  }
  return __builtin_bit_cast(float, bits);
}
__device__ inline half16 to_half(float x) {
  const uint32_t f = __builtin_bit_cast(uint32_t, x);
  const uint32_t sign = (f >> 16) & 0x8000u;
  const uint32_t size = f & 0x7fffffffu;
  uint32_t h = (size - 0x38000000u + 0xfffu + ((size >> 13) & 1u)) >> 13;
  if (size < 0x38800000u) {  // denormal or 0: added to 0.5, it is rounded
    const float sum = __builtin_bit_cast(float, size) + 0.5f;
    h = __builtin_bit_cast(uint32_t, sum) - 0x3f000000u;
  }
  if (size >= 0x47800000u) h = 0x7c00u;
  if (size > 0x7f800000u) h = 0x7e00u | ((size >> 13) & 0x1ffu);
  return {static_cast<uint16_t>(sign | h)};
}
#endif
__device__ __forceinline__ float to_float(bfloat16 x) {
  return functors::FromBFloat16::f(x.bits);
}
__device__ __forceinline__ bfloat16 to_bfloat16(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  bfloat16 b;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(b.bits) : "f"(x));
  return b;
#else
  return {functors::ToBFloat16::f(x)};
#endif
}

// To(x) as copies between tensors convert (backends/cpu/tiles/kernels.h): the
// 16-bit floats go through float.
template <class To, class From>
__device__ __forceinline__ To element_cast(From x) {
  using namespace functors;
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (std::is_same_v<From, half16> ||
                       std::is_same_v<From, bfloat16>) {
    return element_cast<To>(to_float(x));
  } else if constexpr (std::is_same_v<To, half16>) {
    return to_half(ConvertTo<float>::f(x));
  } else if constexpr (std::is_same_v<To, bfloat16>) {
    return to_bfloat16(ConvertTo<float>::f(x));
  } else {
    return ConvertTo<To>::f(x);
  }
}

// An element as a register holds it, and back. Bool registers are bool8, which
// is no type of its own: they have functions of their own.
template <class T, class E>
__device__ __forceinline__ T load_value(E x) {
  return element_cast<T>(x);
}
template <class E, class T>
__device__ __forceinline__ E store_value(T x) {
  return element_cast<E>(x);
}
template <class E>
__device__ __forceinline__ bool8 load_bool(E x) {
  return static_cast<bool8>(element_cast<bool_byte>(x));
}
template <class E>
__device__ __forceinline__ E store_bool(bool8 x) {
  return element_cast<E>(static_cast<bool_byte>(x));
}

// kCount neighbouring elements. Memory is accessed 16 bytes at a time, or all
// at once if they are fewer.
template <class E, int kCount>
struct alignas(kCount * sizeof(E) < 16 ? kCount * sizeof(E) : 16) Pack {
  E at[kCount];
};
template <int kWords>
struct alignas(kWords * 4) Words {
  uint32_t word[kWords];
};
template <>
struct Words<4> {
  uint4 word;
};
template <>
struct Words<2> {
  uint2 word;
};
template <class E, int kCount>
__device__ __forceinline__ Pack<E, kCount> load_pack(const E* from) {
  constexpr int kBytes = kCount * sizeof(E);
  if constexpr (kBytes < 4) {
    return *reinterpret_cast<const Pack<E, kCount>*>(from);
  } else {
    constexpr int kWords = kBytes < 16 ? kBytes / 4 : 4;
    struct Pieces {
      Words<kWords> piece[kBytes / (4 * kWords)];
    } pieces;
#pragma unroll
    for (int i = 0; i < kBytes / (4 * kWords); ++i) {
      pieces.piece[i] = reinterpret_cast<const Words<kWords>*>(from)[i];
    }
    return __builtin_bit_cast(Pack<E, kCount>, pieces);
  }
}
// 16 bytes by one instruction. The compiler takes an assignment apart, and
// does not always put it together again.
__device__ __forceinline__ void store_words(Words<4>* to, const Words<4>& x) {
#ifdef SY_CUDA_ON_HOST
  sy_on_host::expect_global(to);
  *to = x;
#else
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to),
               "r"(x.word.x), "r"(x.word.y), "r"(x.word.z), "r"(x.word.w)
               : "memory");
#endif
}
template <int kWords>
__device__ __forceinline__ void store_words(Words<kWords>* to,
                                            const Words<kWords>& x) {
  *to = x;
}
// Into memory of the block.
template <class E, int kCount>
__device__ __forceinline__ void keep_pack(E* to, const Pack<E, kCount>& x) {
  *reinterpret_cast<Pack<E, kCount>*>(to) = x;
}
// Into memory of the device.
template <class E, int kCount>
__device__ __forceinline__ void store_pack(E* to, const Pack<E, kCount>& x) {
  constexpr int kBytes = kCount * sizeof(E);
  if constexpr (kBytes < 4) {
    *reinterpret_cast<Pack<E, kCount>*>(to) = x;
  } else {
    constexpr int kWords = kBytes < 16 ? kBytes / 4 : 4;
    struct Pieces {
      Words<kWords> piece[kBytes / (4 * kWords)];
    };
    const Pieces pieces = __builtin_bit_cast(Pieces, x);
#pragma unroll
    for (int i = 0; i < kBytes / (4 * kWords); ++i) {
      store_words(reinterpret_cast<Words<kWords>*>(to) + i, pieces.piece[i]);
    }
  }
}

}  // namespace sy::cuda
