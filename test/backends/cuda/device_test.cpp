#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>

#include "backends/cuda/support/walk.h"
#include "c10/tensor/half.h"

#define SY_CUDA_ON_HOST 1
#define SY_ON_HOST_UNCHECKED 1
#include "kernel.cuh"
#include "pointwise.cuh"

// Device code that needs no kernel, as g++ compiles it.

namespace sy::cuda {
namespace {

TEST(Element, halves_become_the_floats_they_are) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float expected =
        sy::detail::half_bits_to_float(static_cast<uint16_t>(bits));
    const float got = to_float(half16{static_cast<uint16_t>(bits)});
    ASSERT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(expected))
        << bits;
  }
}

// Floats between neighbouring halves or bfloat16s, where rounding decides.
template <class F>
void for_floats(const F& f) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000000; ++i) {
    uint32_t bits = random();
    if (i % 4 == 0) bits = (bits & 0xffffe000u) | 0x1000u;
    if (i % 4 == 1) bits = (bits & 0xffff0000u) | 0x8000u;
    if (i % 4 == 2) bits = (bits & 0x87ffffffu) | 0x30000000u;  // of halves
    f(std::bit_cast<float>(bits));
  }
}

TEST(Element, floats_round_as_on_the_host) {
  for_floats([](float x) {
    ASSERT_EQ(to_half(x).bits, sy::detail::float_to_half_bits(x))
        << std::bit_cast<uint32_t>(x);
    ASSERT_EQ(to_bfloat16(x).bits, sy::detail::float_to_bfloat16_bits(x))
        << std::bit_cast<uint32_t>(x);
  });
}

TEST(Element, packs_hold_elements_in_order) {
  alignas(16) int16_t from[8], to[8] = {};
  for (int i = 0; i < 8; ++i) from[i] = static_cast<int16_t>(100 + i);
  const Pack<int16_t, 8> pack = load_pack<int16_t, 8>(from);
  EXPECT_EQ(pack.at[3], 103);
  keep_pack(to, pack);
  EXPECT_EQ(std::memcmp(from, to, sizeof from), 0);
  alignas(16) uint8_t bytes[2] = {1, 2};
  EXPECT_EQ((load_pack<uint8_t, 2>(bytes).at[1]), 2);
  alignas(16) double wide[4] = {1, 2, 3, 4};
  EXPECT_EQ((load_pack<double, 4>(wide).at[3]), 4);
}

// The place of element i, by division.
template <size_t kDims>
int64_t place(const int64_t (&sizes)[kDims], const long long* strides,
              int64_t i) {
  int64_t at = 0;
  for (size_t d = 0; d < kDims; ++d) {
    at += i % sizes[d] * strides[d];
    i /= sizes[d];
  }
  return at;
}

TEST(Places, up_to_the_last_of_2_to_the_31) {
  std::mt19937_64 random(2);
  const int64_t shapes[][5] = {
      {2147483647, 1, 1, 1, 1},    {65535, 32767, 1, 1, 1},
      {7, 3, 11, 31, 299593},      {1, 1, 1, 1, 2147483647},
      {641, 6700417 / 2, 1, 1, 1}, {46340, 46340, 1, 1, 1}};
  for (const auto& sizes : shapes) {
    Strides<5, 2> s{};
    int64_t numel = 1;
    for (int d = 0; d < 5; ++d) {
      s.divisors[d] = make_divisor(static_cast<uint32_t>(sizes[d]));
      s.strides[0][d] = static_cast<long long>(random() % (1ull << 34));
      s.strides[1][d] = d == 2 ? 0 : 8 * (d + 1);
      numel *= sizes[d];
    }
    ASSERT_LT(numel, int64_t{1} << 31);
    for (int k = 0; k < 20000; ++k) {
      const int64_t i =
          k < 100
              ? numel - 1 - std::min<int64_t>(k, numel - 1)
              : static_cast<int64_t>(random() % static_cast<uint64_t>(numel));
      int64_t at[2];
      find(s, static_cast<unsigned>(i), at);
      ASSERT_EQ(at[0], place(sizes, s.strides[0], i)) << i;
      ASSERT_EQ(at[1], place(sizes, s.strides[1], i)) << i;
    }
  }
}

TEST(Places, beyond_2_to_the_31) {
  std::mt19937_64 random(3);
  const int64_t sizes[] = {65537, 3, 65536, 5, 7, 2};
  WideStrides<2> s{};
  s.dims = 6;
  int64_t numel = 1;
  for (int d = 0; d < 6; ++d) {
    s.sizes[d] = sizes[d];
    s.strides[0][d] = static_cast<long long>(random() % (1ull << 20));
    s.strides[1][d] = -8 * d;
    numel *= sizes[d];
  }
  ASSERT_GT(numel, int64_t{1} << 39);
  for (int k = 0; k < 20000; ++k) {
    const auto i =
        static_cast<int64_t>(random() % static_cast<uint64_t>(numel));
    int64_t at[2];
    find(s, i, at);
    ASSERT_EQ(at[0], place(sizes, s.strides[0], i)) << i;
    ASSERT_EQ(at[1], place(sizes, s.strides[1], i)) << i;
  }
}

}  // namespace
}  // namespace sy::cuda
