#include "frontend/export/write/size_solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "frontend/export/format/size_expression.h"

// Formulas are found from numbers of some runs, and are right for all sizes, as
// the reader of files understands their text.

namespace sy::exporting {
namespace {

using Function = std::function<int64_t(int64_t n, int64_t m)>;

std::vector<std::vector<int64_t>> runs() {
  return {{6, 7, 15, 3, 5, 6, 6, 6, 6, 8, 25, 2},
          {9, 9, 9, 9, 9, 10, 21, 4, 8, 11, 38, 3}};
}

std::optional<std::string> formula(const Function& f) {
  const auto sizes = runs();
  SizeSolver solver(sizes);
  std::vector<int64_t> seen;
  for (size_t r = 0; r < sizes[0].size(); ++r) {
    seen.push_back(f(sizes[0][r], sizes[1][r]));
  }
  const auto term = solver.find(seen);
  if (!term) return std::nullopt;
  EXPECT_EQ(solver.term(*term).values, seen);
  return solver.text(*term);
}

void expect_found(const Function& f) {
  const auto text = formula(f);
  ASSERT_TRUE(text.has_value());
  const SizeExpression expression(*text);
  for (int64_t n = 2; n < 40; n += 3) {
    for (int64_t m = 3; m < 60; m += 7) {
      const auto value = expression.value([&](const std::string& name) {
        return std::optional<int64_t>(name == "s0" ? n : m);
      });
      EXPECT_EQ(value, f(n, m)) << *text << " for " << n << ", " << m;
    }
  }
}

TEST(SizeSolver, FindsWhatLayersMakeOfSizes) {
  expect_found([](auto, auto) { return 12; });
  expect_found([](auto n, auto) { return n; });
  expect_found([](auto n, auto) { return 3 * n - 2; });
  expect_found([](auto, auto m) { return m * 8; });
  expect_found([](auto n, auto m) { return n + m; });
  expect_found([](auto n, auto m) { return n - m + 5; });
  expect_found([](auto n, auto m) { return n * m; });
  expect_found([](auto n, auto m) { return 4 * n * n * m; });
  expect_found([](auto n, auto) { return n / 2; });
  expect_found([](auto n, auto) { return (n + 1) / 2; });
  expect_found([](auto n, auto) { return n * (n - 1) / 2; });
  expect_found([](auto, auto m) { return m * (m + 1) / 2; });
  expect_found([](auto n, auto m) { return n * m + 7; });
}

TEST(SizeSolver, FindsNoFormulaOfOtherNumbers) {
  EXPECT_FALSE(formula([](auto n, auto m) { return std::min(n, m); }));
  EXPECT_FALSE(formula([](auto n, auto) { return n ^ 3; }));
  EXPECT_FALSE(formula([](auto n, auto m) { return n % 2 == 0 ? n : m; }));
}

// Runs of even sizes do not tell n / 2 from (n + 1) / 2: another one does.
TEST(SizeSolver, SaysWhichSizeTellsFormulasApart) {
  SizeSolver solver({{4, 8, 12, 20}});
  ASSERT_TRUE(
      solver.find({2, 3, 5, 8}));  // floor((2 n + c) / 5), c from 2 to 3
  const auto more = solver.ambiguity({2}, {100});
  ASSERT_TRUE(more.has_value());
  EXPECT_EQ(more->symbol, 0);
  EXPECT_GE(more->size, 2);
  EXPECT_LE(more->size, 100);
  EXPECT_FALSE(solver.ambiguity({4}, {4}).has_value());
}

}  // namespace
}  // namespace sy::exporting
