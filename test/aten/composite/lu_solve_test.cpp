#include <gtest/gtest.h>

#include <limits>

#include "aten/ops/factory.h"
#include "aten/ops/lu_kernels.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

TEST(LuPermutation, OfTooManyRowsIsRefused) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  SY_EXPECT_ERROR(composite::lu_permutation_by_swaps(zeros({0}, kInt), kMost),
                  ValueError, "more than 2^63-1 bytes");
}

}  // namespace
}  // namespace sy
