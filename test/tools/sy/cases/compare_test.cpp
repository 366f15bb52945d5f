#include "tools/sy/cases/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace sy::tools {
namespace {

template <class T>
HostTensor tensor(std::vector<T> values) {
  HostTensor t{CppTypeToScalarType<T>::value,
               {static_cast<int64_t>(values.size())},
               {1},
               0,
               std::string(values.size() * sizeof(T), '\0')};
  std::memcpy(t.storage.data(), values.data(), t.storage.size());
  return t;
}

TEST(Tolerance, AddsTheRelativeToTheAbsolute) {
  const Tolerance t{0.1, 0.5};
  EXPECT_TRUE(t.accepts(11.5, 10));
  EXPECT_FALSE(t.accepts(11.6, 10));
  EXPECT_TRUE(t.accepts(-11.5, -10));
  EXPECT_TRUE(t.accepts(8.5, 10));
  EXPECT_TRUE(Tolerance{}.accepts(-0.0, 0.0));
}

TEST(Tolerance, NanAndInfinities) {
  const Tolerance t{1, 1e300};
  EXPECT_TRUE(t.accepts(NAN, NAN));
  EXPECT_FALSE(t.accepts(0, NAN));
  EXPECT_FALSE(t.accepts(NAN, 0));
  EXPECT_TRUE(t.accepts(INFINITY, INFINITY));
  EXPECT_FALSE(t.accepts(-INFINITY, INFINITY));
  EXPECT_FALSE(t.accepts(INFINITY, 1));
  EXPECT_FALSE(t.accepts(1, INFINITY));
}

TEST(CompareTensor, IntegersAreExact) {
  const auto a = tensor<int64_t>({1, (int64_t{1} << 62) + 1});
  EXPECT_EQ(compare_tensor(a, a, {}), "");
  EXPECT_EQ(compare_tensor(a, tensor<int64_t>({1, int64_t{1} << 62}), {1, 1}),
            "element [1]: expected 4611686018427387904, got "
            "4611686018427387905");
}

TEST(CompareTensor, CountsWhatDiffers) {
  EXPECT_EQ(
      compare_tensor(tensor<float>({1, 2, 3}), tensor<float>({1, 0, 0}), {}),
      "element [1]: expected 0, got 2 (2 of 3 differ)");
}

TEST(CompareTensor, ReducedFloats) {
  const auto a = tensor<BFloat16>({BFloat16(1.5f)});
  EXPECT_EQ(compare_tensor(a, tensor<BFloat16>({BFloat16(1.0f)}), {0.5, 0}),
            "");
  EXPECT_EQ(compare_tensor(a, tensor<BFloat16>({BFloat16(1.0f)}), {}),
            "element [0]: expected 1, got 1.5");
}

// A kernel must not leave other bytes in a bool.
TEST(CompareTensor, BoolsAreZeroOrOne) {
  auto a = tensor<uint8_t>({2});
  a.dtype = kBool;
  auto b = tensor<uint8_t>({1});
  b.dtype = kBool;
  EXPECT_NE(compare_tensor(a, b, {}), "");
}

TEST(CompareTensor, ValuesBehindStrides) {
  auto a = tensor<float>({1, 9, 2});
  a.sizes = {2};
  a.strides = {2};
  EXPECT_EQ(compare_tensor(a, tensor<float>({1, 2}), {}), "");
  a.offset = 1;
  a.strides = {1};
  EXPECT_EQ(compare_tensor(a, tensor<float>({9, 2}), {}), "");
}

TEST(CompareGeometry, SkipsWhatHasNoMeaning) {
  auto a = tensor<float>({1, 2});
  a.sizes = {1, 2};
  a.strides = {7, 1};
  auto b = a;
  b.strides = {2, 1};
  EXPECT_EQ(compare_geometry(a, b), "");
  b.strides = {7, 0};
  EXPECT_EQ(compare_geometry(a, b), "strides: expected [7, 0], got [7, 1]");
  b = a;
  b.offset = 1;
  EXPECT_EQ(compare_geometry(a, b), "offset: expected 1, got 0");
  a.sizes = b.sizes = {0, 2};
  EXPECT_EQ(compare_geometry(a, b), "");
}

TEST(ComparePlain, KindsDiffer) {
  EXPECT_EQ(compare_plain(Value(true), true, {}), "");
  EXPECT_NE(compare_plain(Value(1), true, {}), "");
  EXPECT_NE(compare_plain(Value(true), 1, {}), "");
  EXPECT_EQ(compare_plain(Value(2.5), {{"float", 2.5}}, {}), "");
  EXPECT_NE(compare_plain(Value(2), {{"float", 2.0}}, {}), "");
  EXPECT_EQ(compare_plain(Value(kFloat), 6, {}), "");
  EXPECT_NE(compare_plain(Value(kDouble), 6, {}), "");
  EXPECT_EQ(compare_plain(Value("a"), "a", {}), "");
  EXPECT_NE(compare_plain(Value("a"), "b", {}), "");
  EXPECT_EQ(compare_plain(Value(), nullptr, {}), "");
  EXPECT_NE(compare_plain(Value(0), nullptr, {}), "");
  EXPECT_EQ(compare_plain(Value(IntArrayRef{1, 2}), {1, 2}, {}), "");
  EXPECT_NE(compare_plain(Value(IntArrayRef{1, 2}), {1, 3}, {}), "");
  EXPECT_NE(compare_plain(Value(IntArrayRef{1, 2}), {1}, {}), "");
}

}  // namespace
}  // namespace sy::tools
