#include "c10/array_ref.h"

#include <gtest/gtest.h>

#include "test/c10/expect_error.h"

namespace sy {
namespace {

TEST(ArrayRef, Prints) {
  EXPECT_EQ(to_string(IntArrayRef({2, -3})), "[2, -3]");
  EXPECT_EQ(to_string(IntArrayRef()), "[]");
}

TEST(ArrayRef, ComparesElements) {
  const std::vector<int64_t> v{1, 2};
  EXPECT_EQ(IntArrayRef(v), IntArrayRef({1, 2}));
  EXPECT_FALSE(IntArrayRef(v) == IntArrayRef({1, 3}));
  EXPECT_FALSE(IntArrayRef(v) == IntArrayRef({1}));
  EXPECT_EQ(IntArrayRef(v).slice(1, 1), IntArrayRef({2}));
}

TEST(ArrayRef, AtChecksTheIndex) {
  const std::vector<int64_t> v{1, 2};
  EXPECT_EQ(IntArrayRef(v).at(1), 2);
  SY_EXPECT_ERROR(IntArrayRef(v).at(2), IndexError,
                  "ArrayRef: index 2 is out of range for 2 elements");
}

}  // namespace
}  // namespace sy
