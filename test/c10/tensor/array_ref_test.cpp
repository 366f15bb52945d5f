#include "c10/tensor/array_ref.h"

#include <gtest/gtest.h>

#include <sstream>

#include "test/c10/expect_error.h"

namespace sy {
namespace {

TEST(ArrayRef, Prints) {
  EXPECT_EQ(to_string(IntArrayRef({2, -3})), "[2, -3]");
  EXPECT_EQ(to_string(IntArrayRef()), "[]");
  std::ostringstream out;
  out << IntArrayRef({2, -3}) << IntArrayRef() << ArrayRef<double>({0.5});
  EXPECT_EQ(out.str(), "[2, -3][][0.5]");
}

TEST(ArrayRef, GoesBackwards) {
  const std::vector<int64_t> numbers = {1, 2, 3};
  const IntArrayRef list(numbers);
  EXPECT_EQ(std::vector<int64_t>(list.rbegin(), list.rend()),
            (std::vector<int64_t>{3, 2, 1}));
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
