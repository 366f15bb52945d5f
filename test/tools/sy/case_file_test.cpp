#include "tools/sy/case_file.h"

#include <gtest/gtest.h>

#include "c10/error.h"
#include "tools/sy/tensors.h"

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

TEST(ParseJson, RejectsKeysGivenTwice) {
  EXPECT_EQ(parse_json(R"({"a": {"b": 1}, "b": {"b": 2}})", "x").size(), 2u);
  try {
    parse_json(R"({"a": {"b": 1, "c": {"b": 1}, "b": 2}})", "x");
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_STREQ(e.what(), "x: key \"b\" twice");
  }
}

TEST(ElementIndices, FollowStrides) {
  EXPECT_EQ(element_indices({2, 2}, {1, 3}, 5),
            (std::vector<int64_t>{5, 8, 6, 9}));
  EXPECT_EQ(element_indices({}, {}, 4), std::vector<int64_t>{4});
  EXPECT_EQ(element_indices({2, 0}, {1, 1}, 0), std::vector<int64_t>{});
  EXPECT_EQ(element_indices({3}, {0}, 1), (std::vector<int64_t>{1, 1, 1}));
}

TEST(ElementPosition, CountsInRowMajorOrder) {
  EXPECT_EQ(element_position({2, 3}, 4), "[1, 1]");
  EXPECT_EQ(element_position({}, 0), "[]");
}

}  // namespace
}  // namespace sy::tools
