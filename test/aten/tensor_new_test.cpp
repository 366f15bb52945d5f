#include "aten/tensor_new.h"

#include <vector>

#include <gtest/gtest.h>

#include "aten/from_blob.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

TEST(TensorNew, DtypeOfItsElements) {
  EXPECT_EQ(tensor(3).dtype(), kLong);
  EXPECT_EQ(tensor(int16_t{3}).dtype(), kShort);
  EXPECT_EQ(tensor(3.0).dtype(), kFloat);
  EXPECT_EQ(tensor(true).dtype(), kBool);
  EXPECT_EQ(tensor({1, 2}).dtype(), kLong);
  EXPECT_EQ(tensor(std::vector<int>{1, 2}).dtype(), kLong);
  EXPECT_EQ(tensor(std::vector<double>{1, 2}).dtype(), kFloat);
  EXPECT_EQ(tensor(std::vector<uint8_t>{1, 2}).dtype(), kByte);
  EXPECT_EQ(tensor({1, 2}, kHalf).dtype(), kHalf);
  EXPECT_EQ(tensor({}).dtype(), kFloat);
}

TEST(TensorNew, SizesAndValues) {
  const Tensor t = tensor({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(t.sizes(), IntArrayRef({2, 3}));
  EXPECT_EQ((t.accessor<int64_t, 2>()[1][0]), 4);
  EXPECT_EQ(tensor(7).dim(), 0);
  EXPECT_EQ(tensor({}).sizes(), IntArrayRef({0}));
  const std::vector<float> row = {1.5f, 2.5f};
  const Tensor rows = tensor({row, row}, kDouble);
  EXPECT_EQ(rows.sizes(), IntArrayRef({2, 2}));
  EXPECT_EQ((rows.accessor<double, 2>()[1][1]), 2.5);
}

TEST(TensorNew, RejectsWhatIsNoTensor) {
  SY_EXPECT_ERROR(tensor({{1, 2}, {3}}), ValueError,
                  "[tensor] data: expected lists of equal sizes, [2, 2], got "
                  "a list of 1 at depth 1");
  SY_EXPECT_ERROR(tensor({{1, 2}, 3}), ValueError, "got a number at depth 1");
  SY_EXPECT_ERROR(tensor({1, 2.5}), TypeError,
                  "expected elements of one type, got int64 and float32");
  SY_EXPECT_ERROR(tensor({300}, kByte), ValueError, "300");
}

TEST(FromBlob, SharesMemory) {
  float data[6] = {0, 1, 2, 3, 4, 5};
  const Tensor t = from_blob(data, {2, 3});
  EXPECT_EQ(t.data_ptr(), data);
  EXPECT_EQ(t.strides(), IntArrayRef({3, 1}));
  const Tensor turned = from_blob(data, {3, 2}, {1, 3}, kFloat);
  EXPECT_EQ((turned.accessor<float, 2>()[2][1]), 5);
  EXPECT_EQ(turned.storage()->nbytes(), sizeof data);
}

TEST(FromBlob, DeletesOnceTheLastTensorIsGone) {
  int data[2] = {1, 2};
  int calls = 0;
  {
    const Tensor t = from_blob(
        data, {2},
        [&calls, &data](void* p) { calls += p == static_cast<void*>(data); },
        kInt);
    const Tensor copy = t;
    EXPECT_EQ(calls, 0);
  }
  EXPECT_EQ(calls, 1);
  static int* deleted;
  from_blob(
      new int[3]{1, 2, 3}, {3}, [](void* p) { deleted = static_cast<int*>(p); },
      kInt);
  ASSERT_NE(deleted, nullptr);
  EXPECT_EQ(deleted[2], 3);
  delete[] deleted;
}

TEST(FromBlob, ChecksItsArguments) {
  float data[1] = {0};
  int calls = 0;
  SY_EXPECT_ERROR(from_blob(data, {-1}), ValueError, "[from_blob]");
  SY_EXPECT_ERROR(from_blob(data, {1}, {1, 1}, kFloat), ValueError,
                  "[from_blob] strides: expected 1 strides");
  SY_EXPECT_ERROR(from_blob(data, {1}, {-1}, kFloat), ValueError,
                  "[from_blob] strides: expected non-negative");
  SY_EXPECT_ERROR(from_blob(
                      nullptr, {1}, [&](void*) { ++calls; }, kFloat),
                  ValueError, "[from_blob] data: expected memory");
  SY_EXPECT_ERROR(from_blob(data, {1}, TensorOptions(Device(kMeta))),
                  ValueError, "[from_blob] options");
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace sy
