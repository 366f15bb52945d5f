#pragma once

#include <cstdint>
#include <cstring>

// Intrinsics of integers and of the bits of numbers.

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) {
  return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline unsigned __brev(unsigned x) {
  x = __builtin_bswap32(x);
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  return (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x)))
             << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}

inline int __mulhi(int a, int b) {
  return static_cast<int>(static_cast<int64_t>(a) * b >> 32);
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<uint64_t>(a) * b >> 32);
}
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a,
                                     unsigned long long b) {
  return static_cast<unsigned long long>(
      static_cast<unsigned __int128>(a) * b >> 64);
}
inline int __mul24(int a, int b) {
  return static_cast<int>(static_cast<unsigned>(a << 8 >> 8) *
                          static_cast<unsigned>(b << 8 >> 8));
}
// The bytes of {b, a} that the nibbles of `select` name.
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned select) {
  const uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned s = select >> (4 * i);
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (s & 7))) & 0xff;
    if (s & 8) byte = byte & 0x80 ? 0xff : 0;
    r |= byte << (8 * i);
  }
  return r;
}
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned by) {
  const uint64_t both = static_cast<uint64_t>(hi) << 32 | lo;
  return static_cast<unsigned>(both << (by & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned by) {
  const uint64_t both = static_cast<uint64_t>(hi) << 32 | lo;
  return static_cast<unsigned>(both >> (by & 31));
}

namespace sy_on_host {
template <class To, class From>
To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}
}  // namespace sy_on_host

inline int __float_as_int(float x) { return sy_on_host::bits_as<int>(x); }
inline unsigned __float_as_uint(float x) {
  return sy_on_host::bits_as<unsigned>(x);
}
inline float __int_as_float(int x) { return sy_on_host::bits_as<float>(x); }
inline float __uint_as_float(unsigned x) {
  return sy_on_host::bits_as<float>(x);
}
inline long long __double_as_longlong(double x) {
  return sy_on_host::bits_as<long long>(x);
}
inline double __longlong_as_double(long long x) {
  return sy_on_host::bits_as<double>(x);
}
inline int __double2hiint(double x) {
  return static_cast<int>(__double_as_longlong(x) >> 32);
}
inline int __double2loint(double x) {
  return static_cast<int>(__double_as_longlong(x));
}
inline double __hiloint2double(int hi, int lo) {
  return __longlong_as_double(static_cast<long long>(
      static_cast<unsigned long long>(static_cast<unsigned>(hi)) << 32 |
      static_cast<unsigned>(lo)));
}
