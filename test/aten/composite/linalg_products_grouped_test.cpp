#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/linalg_products.h"
#include "aten/tensor_new.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

// Recorded cases hold the values; here are groups at the edges and bad inputs.

namespace sy {
namespace {

Tensor ends(const std::vector<int64_t>& list, ScalarType dtype = kInt) {
  return tensor(list, dtype);
}

TEST(GroupedMm, GroupsMayBeEmpty) {
  const Tensor rows = ones({3, 2}), matrices = ones({3, 2, 4});
  const Tensor out = _grouped_mm(rows, matrices, ends({0, 3, 3}));
  EXPECT_EQ(values(out), std::vector<double>(12, 2));
  const Tensor sums = _grouped_mm(ones({2, 3}), ones({3, 1}), ends({0, 3}));
  EXPECT_EQ(values(sums), (std::vector<double>{0, 0, 3, 3}));
  const Tensor none = _grouped_mm(ones({2, 3}), ones({3, 1}), ends({}));
  EXPECT_EQ(ints(none.sizes()), (std::vector<int64_t>{0, 2, 1}));
}

TEST(GroupedMm, WhatIsBehindTheLastGroupIsZero) {
  const Tensor rows = ones({3, 2}), matrices = ones({1, 2, 1});
  EXPECT_EQ(values(_grouped_mm(rows, matrices, ends({1}, kLong))),
            (std::vector<double>{2, 0, 0}));
  const Tensor batch = ones({1, 1, 2});
  EXPECT_EQ(values(_grouped_mm(batch, ones({2, 3}), ends({2}))),
            (std::vector<double>{2, 2, 0}));
}

TEST(GroupedMm, BadInputs) {
  const Tensor a = ones({4, 3}), b = ones({2, 3, 5}), offs = ends({1, 4});
  SY_EXPECT_ERROR(_grouped_mm(ones({3}), b, offs), ValueError,
                  "self: expected 2 or 3 dims");
  SY_EXPECT_ERROR(_grouped_mm(a, ones({2, 4, 5}), offs), ValueError,
                  "mat2: expected 2 or 3 dims and 3 rows");
  SY_EXPECT_ERROR(_grouped_mm(a, b.to(kDouble), offs), TypeError,
                  "mat2: expected the dtype of self");
  SY_EXPECT_ERROR(_grouped_mm(a, b), ValueError,
                  "offs: expected the ends of groups, got None");
  SY_EXPECT_ERROR(_grouped_mm(ones({2, 4, 3}), b, offs), ValueError,
                  "offs: expected None beside two batches");
  SY_EXPECT_ERROR(_grouped_mm(a, b, ends({1, 4}, kFloat)), ValueError,
                  "offs: expected int32 or int64 of one dim");
  SY_EXPECT_ERROR(_grouped_mm(a, b, ends({4})), ValueError,
                  "offs: expected an end for each of 2 matrices, got 1");
  SY_EXPECT_ERROR(_grouped_mm(a, b, ends({2, 1})), ValueError,
                  "up to 4, got 1 after 2");
  SY_EXPECT_ERROR(_grouped_mm(a, b, ends({2, 5})), ValueError,
                  "up to 4, got 5 after 2");
  SY_EXPECT_ERROR(_grouped_mm(a, b, offs, ones({5})), NotImplementedError,
                  "bias: expected None");
}

}  // namespace
}  // namespace sy
