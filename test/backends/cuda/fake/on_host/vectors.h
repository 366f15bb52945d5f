#pragma once

#include <cstddef>
#include <cstdint>

// CUDA's vector types, aligned as there.

#define SY_ON_HOST_VECTORS(T, base, align2, align4)                  \
  struct base##1 {                                                   \
    T x;                                                             \
  };                                                                 \
  struct alignas(align2) base##2 {                                   \
    T x, y;                                                          \
  };                                                                 \
  struct base##3 {                                                   \
    T x, y, z;                                                       \
  };                                                                 \
  struct alignas(align4) base##4 {                                   \
    T x, y, z, w;                                                    \
  };                                                                 \
  inline base##1 make_##base##1(T x) { return {x}; }                 \
  inline base##2 make_##base##2(T x, T y) { return {x, y}; }         \
  inline base##3 make_##base##3(T x, T y, T z) { return {x, y, z}; } \
  inline base##4 make_##base##4(T x, T y, T z, T w) { return {x, y, z, w}; }

SY_ON_HOST_VECTORS(signed char, char, 2, 4)
SY_ON_HOST_VECTORS(unsigned char, uchar, 2, 4)
SY_ON_HOST_VECTORS(short, short, 4, 8)
SY_ON_HOST_VECTORS(unsigned short, ushort, 4, 8)
SY_ON_HOST_VECTORS(int, int, 8, 16)
SY_ON_HOST_VECTORS(unsigned, uint, 8, 16)
SY_ON_HOST_VECTORS(long, long, 16, 16)
SY_ON_HOST_VECTORS(unsigned long, ulong, 16, 16)
SY_ON_HOST_VECTORS(long long, longlong, 16, 16)
SY_ON_HOST_VECTORS(unsigned long long, ulonglong, 16, 16)
SY_ON_HOST_VECTORS(float, float, 8, 16)
SY_ON_HOST_VECTORS(double, double, 16, 16)
#undef SY_ON_HOST_VECTORS

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3() = default;
  constexpr dim3(unsigned x_, unsigned y_ = 1, unsigned z_ = 1)
      : x(x_), y(y_), z(z_) {}
};
