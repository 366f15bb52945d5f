#include "aten/engine/guard.h"

#include <gtest/gtest.h>

#include "aten/engine/view.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

Tensor make(IntArrayRef sizes) {
  return Tensor(make_tensor(sizes, kFloat, Device(kCPU)));
}

TEST(Guard, OverlapWithin) {
  const Tensor a = make({100});
  const auto of = [&](IntArrayRef sizes, IntArrayRef strides) {
    return internal_overlap(alias_without_view(a, sizes, strides, 0));
  };
  EXPECT_EQ(of({3, 4}, {4, 1}), Overlap::No);
  EXPECT_EQ(of({3, 4}, {1, 3}), Overlap::No);
  EXPECT_EQ(of({3, 4}, {20, 2}), Overlap::No);
  EXPECT_EQ(of({3, 4}, {0, 1}), Overlap::Yes);
  EXPECT_EQ(of({1, 4}, {0, 1}), Overlap::No);
  EXPECT_EQ(of({3, 4}, {2, 1}), Overlap::TooHard);
}

// Parts of one tensor with its strides, against every element of theirs.
TEST(Guard, PartsWithTheSameStridesMeetOrDoNot) {
  const Tensor a = make({200});
  for (const int64_t outer : {6, 7, 10}) {
    for (const int64_t from : {0, 1, 2, 3, 5, 6, 7, 13, 29, 40}) {
      for (const int64_t rows : {1, 3}) {
        for (const int64_t columns : {1, 2, 3}) {
          const Tensor x = alias_without_view(a, {4, 3}, {outer, 2}, 0);
          const Tensor y =
              alias_without_view(a, {rows, columns}, {outer, 2}, from);
          bool meet = false;
          for (int64_t i = 0; i < 12; ++i) {
            for (int64_t j = 0; j < rows * columns; ++j) {
              meet |= i / 3 * outer + i % 3 * 2 ==
                      from + j / columns * outer + j % columns * 2;
            }
          }
          EXPECT_EQ(sharing(x, y) != Sharing::None, meet)
              << outer << " " << from << " " << rows << " " << columns;
        }
      }
    }
  }
}

TEST(Guard, OverlapOfTwo) {
  const Tensor a = make({100});
  const auto part = [&](int64_t from, int64_t n, int64_t stride = 1) {
    return alias_without_view(a, {n}, {stride}, from);
  };
  EXPECT_EQ(sharing(part(0, 10), part(0, 10)), Sharing::Full);
  EXPECT_EQ(sharing(part(0, 10), part(10, 10)), Sharing::None);
  EXPECT_EQ(sharing(part(0, 10), part(9, 10)), Sharing::Partial);
  EXPECT_EQ(sharing(part(0, 10, 2), part(1, 10, 2)), Sharing::None);
  EXPECT_EQ(sharing(part(0, 10, 2), part(4, 10, 2)), Sharing::TooHard);
  EXPECT_EQ(sharing(part(0, 10, 2), part(1, 10, 3)), Sharing::TooHard);
  EXPECT_EQ(sharing(part(0, 10), make({10})), Sharing::None);
  EXPECT_EQ(sharing(part(0, 0), part(0, 10)), Sharing::None);
  EXPECT_EQ(sharing(part(0, 6), alias_without_view(a, {2, 3}, {3, 1}, 0)),
            Sharing::Full);
  EXPECT_EQ(sharing(alias_without_view(a, {2, 3}, {1, 2}, 0),
                    alias_without_view(a, {2, 3}, {3, 1}, 0)),
            Sharing::Partial);
}

TEST(Guard, Messages) {
  const Tensor a = make({2, 3});
  SY_EXPECT_ERROR(check_defined("f", "x", Tensor()), ValueError,
                  "[f] x: expected a tensor, got an undefined one");
  SY_EXPECT_ERROR(check_dtype("f", "x", a, kLong), TypeError,
                  "[f] x: expected int64, got float32[2, 3] on cpu");
  SY_EXPECT_ERROR(check_dim("f", "x", a, 1), ValueError,
                  "[f] x: expected 1 dims");
  SY_EXPECT_ERROR(check_can_cast("f", "out", kFloat, kLong), TypeError,
                  "float32 can be cast to, got int64");
  SY_EXPECT_ERROR(assert_no_overlap("f", a, "x", a), ValueError, "[f] x:");
  const Tensor meta(make_tensor({2, 3}, kFloat, Device(kMeta)));
  const TensorBase* both[] = {&a, &meta};
  SY_EXPECT_ERROR(check_same_device("f", both, 2), ValueError,
                  "on one device, got cpu and meta");
  const Tensor number = make({});
  const TensorBase* mixed[] = {&number, &meta, nullptr};
  EXPECT_EQ(check_same_device("f", mixed, 3), Device(kMeta));
}

TEST(Guard, WrapDim) {
  EXPECT_EQ(wrap_dim("f", -1, 3), 2);
  EXPECT_EQ(wrap_dim("f", -1, 0), 0);
  SY_EXPECT_ERROR(wrap_dim("f", 3, 3), IndexError,
                  "[f] dim: expected a value in [-3, 2], got 3");
}

}  // namespace
}  // namespace sy
