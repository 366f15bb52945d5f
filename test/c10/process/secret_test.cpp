#include "c10/process/secret.h"

#include <gtest/gtest.h>

namespace sy {
namespace {

TEST(Secret, IsTheSameOnlyIfAllOfItIs) {
  EXPECT_TRUE(is_same_secret("", ""));
  EXPECT_TRUE(is_same_secret("abc", "abc"));
  for (const char* other : {"", "ab", "abcd", "Abc", "aBc", "abC"}) {
    EXPECT_FALSE(is_same_secret("abc", other)) << other;
    EXPECT_FALSE(is_same_secret(other, "abc")) << other;
  }
}

}  // namespace
}  // namespace sy
