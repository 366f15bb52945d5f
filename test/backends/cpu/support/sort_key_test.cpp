#include "backends/cpu/support/sort_key.h"

#include <cmath>
#include <iterator>

#include <gtest/gtest.h>

namespace sy::cpu {
namespace {

TEST(SortKey, KeepsTheOrder) {
  const double x[] = {-INFINITY, -2.5, -1e-30, 0, 1e-30, 1, INFINITY, NAN};
  for (size_t i = 1; i < std::size(x); ++i) {
    EXPECT_LT(sort_key(x[i - 1]), sort_key(x[i]));
    EXPECT_LE(sort_key(Half(static_cast<float>(x[i - 1]))),
              sort_key(Half(static_cast<float>(x[i]))));
  }
  EXPECT_EQ(sort_key(-0.0f), sort_key(0.0f));
  EXPECT_EQ(sort_key(-NAN), sort_key(NAN));
  EXPECT_LT(sort_key(int8_t{-1}), sort_key(int8_t{0}));
  EXPECT_LT(sort_key(INT64_MIN), sort_key(INT64_MAX));
}

}  // namespace
}  // namespace sy::cpu
