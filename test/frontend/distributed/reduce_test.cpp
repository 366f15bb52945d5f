#include "frontend/distributed/group/reduce.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "test/c10/expect_error.h"

namespace sy::distributed {
namespace {

constexpr ReduceOp kOps[] = {ReduceOp::SUM, ReduceOp::AVG, ReduceOp::PRODUCT,
                             ReduceOp::MIN, ReduceOp::MAX, ReduceOp::BAND,
                             ReduceOp::BOR, ReduceOp::BXOR};

// One element, by another way than reduce.cpp's.
template <class T>
T expected(T a, T b, ReduceOp op) {
  if constexpr (std::is_same_v<T, bool>) {
    switch (op) {
      case ReduceOp::SUM:
      case ReduceOp::MAX:
      case ReduceOp::BOR: return a || b;
      case ReduceOp::BXOR: return a != b;
      default: return a && b;
    }
  } else if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    switch (op) {
      case ReduceOp::SUM: return static_cast<T>(x + y);
      case ReduceOp::PRODUCT: return static_cast<T>(x * y);
      case ReduceOp::MIN: return std::min(a, b);
      case ReduceOp::MAX: return std::max(a, b);
      case ReduceOp::BAND: return static_cast<T>(x & y);
      case ReduceOp::BOR: return static_cast<T>(x | y);
      default: return static_cast<T>(x ^ y);
    }
  } else {
    using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const C x = a, y = b;
    switch (op) {
      case ReduceOp::SUM:
      case ReduceOp::AVG: return T(x + y);
      case ReduceOp::PRODUCT: return T(x * y);
      case ReduceOp::MIN:
        if (std::isnan(x)) return a;
        return std::isnan(y) || y <= x ? b : a;
      default:
        if (std::isnan(x)) return a;
        return std::isnan(y) || y >= x ? b : a;
    }
  }
}

// All bytes of the memory, so that -0 and 0 differ; NaN is NaN.
template <class T>
bool same(T a, T b) {
  if constexpr (!std::is_integral_v<T>) {
    if (std::isnan(static_cast<double>(a))) {
      return std::isnan(static_cast<double>(b));
    }
  }
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
std::vector<char> random_bytes(int64_t n, unsigned seed) {
  std::mt19937 next(seed);
  std::vector<char> bytes(static_cast<size_t>(n) * sizeof(T));
  for (char& b : bytes) b = static_cast<char>(next());
  if (std::is_same_v<T, bool>) {
    for (char& b : bytes) b = b & 1;
  }
  return bytes;
}

template <class T>
void check(ScalarType dtype, ReduceOp op, int64_t n) {
  const auto a = random_bytes<T>(n, 1), b = random_bytes<T>(n, 2);
  std::vector<char> acc = a;
  acc.push_back('x');  // what lies behind is not written
  reduce_into(acc.data(), b.data(), n, dtype, op);
  EXPECT_EQ(acc.back(), 'x');
  for (int64_t i = 0; i < n; ++i) {
    T x, y, got;
    const size_t at = static_cast<size_t>(i) * sizeof(T);
    std::memcpy(&x, a.data() + at, sizeof(T));
    std::memcpy(&y, b.data() + at, sizeof(T));
    std::memcpy(&got, acc.data() + at, sizeof(T));
    if (!same(got, expected(x, y, op))) {
      ADD_FAILURE() << dtype_name(dtype) << ' ' << name_of(op) << " element "
                    << i << " of " << n << ": " << double(x) << ", "
                    << double(y) << " gave " << double(got);
      return;
    }
  }
}

TEST(ReduceInto, ComputesEveryDtypeReductionAndSize) {
  int pairs = 0;
  for (const ReduceOp op : kOps) {
    for (const int64_t n : {0, 1, 3, 7, 16, 33, 4099}) {
#define SY_CASE(cpp, Enum)                        \
  if (reducible(ScalarType::Enum, op)) {          \
    check<cpp>(ScalarType::Enum, op, n), ++pairs; \
  }
      SY_FORALL_SCALAR_TYPES(SY_CASE)
#undef SY_CASE
    }
  }
  // 4 floats x 5, 5 integers x 7, bool x 7.
  EXPECT_EQ(pairs, (4 * 5 + 5 * 7 + 7) * 7);
}

// Every value of the two-byte floats goes through the conversions.
template <class T>
void check_all_values(ScalarType dtype, uint16_t zero) {
  std::vector<T> acc(65536), x(65536);
  for (int i = 0; i < 65536; ++i) {
    acc[i] = std::bit_cast<T>(static_cast<uint16_t>(i));
    x[i] = std::bit_cast<T>(zero);
  }
  reduce_into(acc.data(), x.data(), 65536, dtype, ReduceOp::SUM);
  for (int i = 0; i < 65536; ++i) {
    const T before = std::bit_cast<T>(static_cast<uint16_t>(i));
    ASSERT_TRUE(same(acc[i], before)) << i;
  }
}

TEST(ReduceInto, KeepsEveryHalfAndBFloat16) {
  // x is -0, because 0 + -0 would not keep -0.
  check_all_values<Half>(ScalarType::Half, 0x8000);
  check_all_values<BFloat16>(ScalarType::BFloat16, 0x8000);
}

TEST(ReduceInto, MinAndMaxKeepNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const ReduceOp op : {ReduceOp::MIN, ReduceOp::MAX}) {
    float acc[] = {nan, 1, nan, 2};
    const float x[] = {1, nan, nan, 3};
    reduce_into(acc, x, 4, kFloat, op);
    EXPECT_TRUE(std::isnan(acc[0]) && std::isnan(acc[1]) && std::isnan(acc[2]))
        << name_of(op);
    EXPECT_EQ(acc[3], op == ReduceOp::MIN ? 2 : 3);
  }
}

TEST(ReduceInto, BoolTakesEveryByteButZeroAsTrue) {
  uint8_t acc[] = {0, 2, 4, 0};
  const uint8_t x[] = {0, 0, 2, 8};
  reduce_into(acc, x, 4, kBool, ReduceOp::SUM);
  EXPECT_EQ(std::vector<int>(acc, acc + 4), (std::vector<int>{0, 1, 1, 1}));
  uint8_t both[] = {2, 4};
  const uint8_t with[] = {4, 0};
  reduce_into(both, with, 2, kBool, ReduceOp::BAND);
  EXPECT_EQ(std::vector<int>(both, both + 2), (std::vector<int>{1, 0}));
}

TEST(ReduceInto, RefusesPairsThatAreNot) {
  float f = 0;
  int32_t i = 0;
  SY_EXPECT_ERROR(reduce_into(&i, &i, 1, kInt, ReduceOp::AVG), TypeError,
                  "expected a reduction of int32, got 'avg'");
  SY_EXPECT_ERROR(reduce_into(&f, &f, 1, kFloat, ReduceOp::BAND), TypeError,
                  "expected a reduction of float32, got 'band'");
  SY_EXPECT_ERROR(reduce_into(&f, &f, 0, ScalarType::Undefined, ReduceOp::SUM),
                  TypeError, "expected a reduction of undefined, got 'sum'");
  SY_EXPECT_ERROR(divide(&i, 1, kInt, 2), TypeError,
                  "expected a floating dtype for 'avg', got int32");
}

TEST(Divide, RoundsOnce) {
  float f[] = {1, -7, 0};
  divide(f, 3, kFloat, 3);
  EXPECT_EQ(f[0], 1.0f / 3);
  EXPECT_EQ(f[1], -7.0f / 3);
  double d[] = {1};
  divide(d, 1, kDouble, 3);
  EXPECT_EQ(d[0], 1.0 / 3);
  Half h[] = {Half(1), Half(65504)};
  divide(h, 2, kHalf, 3);
  EXPECT_EQ(h[0].bits, Half(1.0f / 3).bits);
  EXPECT_EQ(h[1].bits, Half(65504.0f / 3).bits);
  BFloat16 b[] = {BFloat16(1)};
  divide(b, 1, kBFloat16, 3);
  EXPECT_EQ(b[0].bits, BFloat16(1.0f / 3).bits);
}

TEST(ReduceOp, HasNamesBothWays) {
  for (const ReduceOp op : kOps) EXPECT_EQ(reduce_op_of(name_of(op)), op);
  EXPECT_STREQ(name_of(ReduceOp::AVG), "avg");
  SY_EXPECT_ERROR(reduce_op_of("mean"), ValueError,
                  "expected one of sum, avg, product, min, max, band, bor, "
                  "bxor, got 'mean'");
  EXPECT_STREQ(name_of(static_cast<ReduceOp>(99)), "unknown");
}

}  // namespace
}  // namespace sy::distributed
