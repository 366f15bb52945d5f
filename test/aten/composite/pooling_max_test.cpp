#include "aten/ops/pooling_max_kernels.h"

#include <gtest/gtest.h>

#include <limits>

#include "aten/ops/factory.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

TEST(MaxUnpool, APlaneOfTooManyElementsIsRefused) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const Tensor self = zeros({1, 1, 2, 2});
  const Tensor at = zeros({1, 1, 2, 2}, kLong);
  SY_EXPECT_ERROR(composite::max_unpool2d_by_scatter(self, at, {4, kMost}),
                  ValueError, "[max_unpool2d] size: the tensor would have");
  SY_EXPECT_ERROR(
      composite::max_unpool3d_by_scatter(self, at, {2, 4, kMost}, {}, {}),
      ValueError, "[max_unpool3d] size: the tensor would have");
}

}  // namespace
}  // namespace sy
