#include "test/growth/work.h"

#include <gtest/gtest.h>

namespace sy::test {
namespace {

std::vector<std::string> names(int64_t n) {
  std::vector<std::string> out;
  for (int64_t i = 0; i < n; ++i) {
    out.push_back("an operator with a long name " + std::to_string(i));
  }
  return out;
}

// The count that the tests of this folder use finds what they are for.
TEST(Work, AQuadraticSearchGrowsTooMuch) {
  const double g = growth(
      [](int64_t n) -> std::function<void()> {
        return [n] {
          const auto all = names(n);
          size_t found = 0;
          for (const std::string& name : all) {
            for (const std::string& other : names(n)) found += other == name;
          }
          EXPECT_EQ(found, all.size());
        };
      },
      200);
  EXPECT_GT(g, kMostGrowth) << unit_of_work();
}

TEST(Work, ALinearOneDoesNot) {
  const double g = growth(
      [](int64_t n) -> std::function<void()> {
        return [n] { EXPECT_EQ(names(n).size(), static_cast<size_t>(n)); };
      },
      10'000);
  EXPECT_LT(g, kMostGrowth) << unit_of_work();
  EXPECT_GT(g, 1.5) << unit_of_work();
}

}  // namespace
}  // namespace sy::test
