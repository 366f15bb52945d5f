#include "c10/process/error.h"

#include <gtest/gtest.h>

#include "c10/device/device.h"

namespace sy {
namespace {

TEST(Str, PutsArgumentsInPlace) {
  EXPECT_EQ(str("a{} {} {}{}", 1, int64_t{-2}, 0.25, true), "a1 -2 0.25true");
  EXPECT_EQ(str("{}{}{}", 'c', std::string("d"), UINT64_MAX),
            "cd18446744073709551615");
  EXPECT_EQ(str(""), "");
}

TEST(Str, BracesAreWrittenTwice) {
  EXPECT_EQ(str("{{}} {} }}{{", 1), "{} 1 }{");
  EXPECT_EQ(str("{}", "{} of {x}"), "{} of {x}");
}

TEST(Str, ShowsWhatIsNoText) {
  EXPECT_EQ(str("{}", std::string("a\0b", 3)), std::string("a\0b", 3));
  EXPECT_EQ(str("{}", 1e20), "1e+20");
}

TEST(Check, ThrowsTheKindWithItsText) {
  const int n = -1;
  SY_CHECK(n < 0, Value, "not thrown");
  try {
    SY_CHECK(n >= 0, Index, "[{}] {}: expected {}, got {}", "op", "n", 0, n);
    FAIL();
  } catch (const IndexError& e) {
    EXPECT_EQ(e.message(), "[op] n: expected 0, got -1");
  }
}

TEST(Check, ANulDoesNotCutTheMessage) {
  ValueError e(std::string("[op] name: got 'a\0b', which is none", 35));
  EXPECT_STREQ(e.what(), "[op] name: got 'a\\0b', which is none");
  e.add_context(std::string("x\0y", 3));
  e.add_prefix(std::string("p\0", 2));
  EXPECT_STREQ(e.what(), "p\\0x\\0y\n[op] name: got 'a\\0b', which is none");
}

TEST(Check, AssertionsSayWhereAndWhy) {
  const auto message = [](auto&& f) -> std::string {
    try {
      f();
    } catch (const InternalError& e) {
      return e.message();
    }
    return "nothing was thrown";
  };
  const std::string with_text =
      message([] { SY_INTERNAL_ASSERT(1 + 1 == 3, "sum {}", 2); });
  EXPECT_NE(with_text.find("1 + 1 == 3 does not hold. sum 2\n"),
            std::string::npos)
      << with_text;
  const std::string without = message([] { SY_INTERNAL_ASSERT(1 + 1 == 3); });
  EXPECT_NE(without.find("error_test.cpp:"), std::string::npos) << without;
  EXPECT_NE(without.find("does not hold. \n"), std::string::npos) << without;
}

// A float that is taken for the number of a backend would be "cpu".
TEST(Str, FloatsAreNumbers) { EXPECT_EQ(str("{} {}", 1.5f, 0.0f), "1.5 0"); }

TEST(Str, DevicesAreNames) { EXPECT_EQ(str("{}", Device(kCPU)), "cpu"); }

}  // namespace
}  // namespace sy
