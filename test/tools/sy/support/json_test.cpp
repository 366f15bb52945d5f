#include "tools/sy/support/json.h"

#include <gtest/gtest.h>

#include "c10/process/error.h"

namespace sy::tools {
namespace {

TEST(ParseJson, RejectsKeysGivenTwice) {
  EXPECT_EQ(parse_json(R"({"a": {"b": 1}, "b": {"b": 2}})", "x").size(), 2u);
  try {
    parse_json(R"({"a": {"b": 1, "c": {"b": 1}, "b": 2}})", "x");
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_STREQ(e.what(), "x: key \"b\" twice");
  }
}

}  // namespace
}  // namespace sy::tools
