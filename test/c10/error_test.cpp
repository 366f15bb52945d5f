#include "c10/error.h"

#include <gtest/gtest.h>

#include "c10/device.h"

namespace sy {
namespace {

TEST(Str, JoinsTextsAndNumbers) {
  EXPECT_EQ(str("a", 1, ' ', int64_t{-2}, " ", 0.25, true), "a1 -2 0.25true");
}

// A float that is taken for the number of a backend would be "cpu".
TEST(Str, FloatsAreNumbers) { EXPECT_EQ(str(1.5f, " ", 0.0f), "1.5 0"); }

TEST(Str, DevicesAreNames) { EXPECT_EQ(str(Device(kCPU)), "cpu"); }

}  // namespace
}  // namespace sy
