#include "aten/ops/storage.h"

#include <gtest/gtest.h>

#include <limits>

#include "aten/ops/factory.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

TEST(Set, APlaceBeyondAllMemoryIsRefused) {
  const Tensor source = zeros({4});
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const int64_t offset : {kMost, kMost / 2}) {
    for (const int64_t size : {0, 1}) {
      Tensor t = zeros({2});
      SY_EXPECT_ERROR(
          set_(t, source, offset, {size}, {1}), ValueError,
          "[set_] storage_offset: expected a place within 2^63 - 1 bytes");
    }
  }
}

}  // namespace
}  // namespace sy::families
