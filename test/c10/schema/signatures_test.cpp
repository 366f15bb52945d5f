#include "test/c10/schema/signatures.h"

#include <gtest/gtest.h>

#include "c10/schema/check.h"
#include "c10/schema/parser.h"

namespace sy {
namespace {

TEST(Signatures, PrintAsTheyWereRead) {
  const auto lines = test::sample_signatures();
  ASSERT_GE(lines.size(), 60u);
  for (const std::string& line : lines) {
    EXPECT_EQ(to_string(parse_schema(line)), line);
  }
}

TEST(Signatures, PassTheChecks) {
  for (const std::string& line : test::sample_signatures()) {
    for (const SchemaError& error : parse_and_check_schema(line).errors) {
      ADD_FAILURE() << line << ": " << error.what();
    }
    EXPECT_TRUE(check_schema(parse_schema(line)).empty()) << line;
  }
}

TEST(Signatures, ReadTheSameWithoutAndWithMoreSpace) {
  for (const std::string& line : test::sample_signatures()) {
    // Strings keep their spaces, so leave those lines alone.
    if (line.find_first_of("'\"") != line.npos) continue;
    std::string wide;
    for (char c : line) {
      const bool mark = std::string_view("(),=[]?!|").find(c) != line.npos;
      wide += mark ? std::string(" \n") + c + "\t " : std::string(1, c);
    }
    EXPECT_EQ(parse_schema(wide), parse_schema(line)) << wide;
  }
}

}  // namespace
}  // namespace sy
