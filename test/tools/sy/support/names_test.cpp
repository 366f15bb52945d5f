#include "tools/sy/support/names.h"

#include <gtest/gtest.h>

namespace sy::tools {
namespace {

TEST(Matches, Patterns) {
  EXPECT_TRUE(matches("add.Tensor", "add.Tensor"));
  EXPECT_TRUE(matches("aten::add.Tensor", "add.Tensor"));
  EXPECT_TRUE(matches("add*", "add.Tensor"));
  EXPECT_TRUE(matches("add*", "addmm"));
  EXPECT_TRUE(matches("add.*", "add.Tensor"));
  EXPECT_FALSE(matches("add.*", "addmm"));
  EXPECT_TRUE(matches("?el[uv]", "gelu"));
  EXPECT_TRUE(matches("*", "relu"));
  EXPECT_FALSE(matches("add", "add.Tensor"));
  EXPECT_FALSE(matches("", "relu"));
  EXPECT_TRUE(matches("*::relu", "relu"));
}

}  // namespace
}  // namespace sy::tools
