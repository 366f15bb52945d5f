#include "c10/schema/default_value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sy {
namespace {

using Kind = DefaultValue::Kind;

TEST(DefaultValue, IsFalseWhenThereIsNone) {
  const DefaultValue none;
  EXPECT_FALSE(none);
  EXPECT_FALSE(none.is_none());
  EXPECT_EQ(none.str(), "");
  EXPECT_TRUE(DefaultValue::parse("None"));
  EXPECT_TRUE(DefaultValue::parse("None").is_none());
}

TEST(DefaultValue, ReadsBooleans) {
  EXPECT_TRUE(DefaultValue::parse("True").as_bool());
  EXPECT_FALSE(DefaultValue::parse("False").as_bool());
  EXPECT_EQ(DefaultValue::parse("true").kind(), Kind::kIdentifier);
}

TEST(DefaultValue, ReadsIntegers) {
  EXPECT_EQ(DefaultValue::parse("-100").as_int(), -100);
  EXPECT_EQ(DefaultValue::parse("-9223372036854775808").as_int(),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(DefaultValue::parse("3").as_double(), 3.0);
}

TEST(DefaultValue, ReadsFloats) {
  EXPECT_EQ(DefaultValue::parse("1e-05").as_double(), 1e-05);
  EXPECT_EQ(DefaultValue::parse("1E+2").as_double(), 100.0);
  EXPECT_EQ(DefaultValue::parse("-0.5").as_double(), -0.5);
  EXPECT_EQ(DefaultValue::parse("1.").as_double(), 1.0);
  EXPECT_EQ(DefaultValue::parse("0.0").kind(), Kind::kDouble);
  EXPECT_EQ(DefaultValue::parse("-inf").as_double(),
            -std::numeric_limits<double>::infinity());
  EXPECT_EQ(DefaultValue::parse("inf").as_double(),
            std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(DefaultValue::parse("nan").as_double()));
}

TEST(DefaultValue, ReadsStringsAndKeepsTheirSpelling) {
  const DefaultValue quoted = DefaultValue::parse(R"("a'\"\\\n\t")");
  EXPECT_EQ(quoted.kind(), Kind::kString);
  EXPECT_EQ(quoted.as_string(), "a'\"\\\n\t");
  EXPECT_EQ(quoted.str(), R"("a'\"\\\n\t")");
  EXPECT_EQ(DefaultValue::parse("''").as_string(), "");
  EXPECT_EQ(DefaultValue::parse("'  '").str(), "'  '");
}

TEST(DefaultValue, ReadsIdentifiers) {
  const DefaultValue mean = DefaultValue::parse("Mean");
  EXPECT_EQ(mean.kind(), Kind::kIdentifier);
  EXPECT_EQ(mean.as_string(), "Mean");
}

TEST(DefaultValue, ReadsLists) {
  EXPECT_TRUE(DefaultValue::parse("[]").items().empty());
  const DefaultValue list = DefaultValue::parse("[ -2, 1.5 ,True,[x] ]");
  ASSERT_EQ(list.items().size(), 4u);
  EXPECT_EQ(list.items()[0].as_int(), -2);
  EXPECT_EQ(list.items()[1].as_double(), 1.5);
  EXPECT_TRUE(list.items()[2].as_bool());
  EXPECT_EQ(list.items()[3].items()[0].as_string(), "x");
  EXPECT_EQ(list.str(), "[-2,1.5,True,[x]]");
}

TEST(DefaultValue, EqualSpellingsAreTheSameNode) {
  EXPECT_EQ(DefaultValue::parse("[0, 1]"), DefaultValue::parse("[0,1]"));
  EXPECT_NE(DefaultValue::parse("1e-5"), DefaultValue::parse("1e-05"));
  EXPECT_NE(DefaultValue::parse("'a'"), DefaultValue::parse("a"));
}

TEST(DefaultValue, ComparesMeaning) {
  const auto same = [](const char* a, const char* b) {
    return DefaultValue::parse(a).same_value(DefaultValue::parse(b));
  };
  EXPECT_TRUE(same("1e-5", "1e-05"));
  EXPECT_TRUE(same("'L'", "\"L\""));
  EXPECT_TRUE(same("[1,2.0]", "[1,2.00]"));
  EXPECT_TRUE(same("nan", "nan"));
  EXPECT_FALSE(same("1", "1.0"));
  EXPECT_FALSE(same("'L'", "L"));
  EXPECT_FALSE(same("[1]", "[1,1]"));
  EXPECT_FALSE(same("True", "False"));
  EXPECT_FALSE(DefaultValue().same_value(DefaultValue::parse("None")));
  EXPECT_TRUE(DefaultValue().same_value(DefaultValue()));
}

}  // namespace
}  // namespace sy
