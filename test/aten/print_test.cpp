#include "aten/print.h"

#include <cmath>
#include <sstream>

#include <gtest/gtest.h>

#include "aten/tensor_new.h"

namespace sy {
namespace {

TEST(Print, Undefined) {
  EXPECT_EQ(to_string(Tensor()), "[ Tensor (undefined) ]");
}

TEST(Print, Scalars) {
  EXPECT_EQ(to_string(tensor(1.0)), "1\n[ CPUFloatType{} ]");
  EXPECT_EQ(to_string(tensor(0.123456789)), "0.123457\n[ CPUFloatType{} ]");
  EXPECT_EQ(to_string(tensor(INT64_MAX)),
            "9223372036854775807\n[ CPULongType{} ]");
}

TEST(Print, Vectors) {
  EXPECT_EQ(to_string(tensor({1, -20})), "  1\n-20\n[ CPULongType{2} ]");
  EXPECT_EQ(to_string(tensor({0.5, 1.25})),
            " 0.5000\n 1.2500\n[ CPUFloatType{2} ]");
  EXPECT_EQ(to_string(tensor({true, false})), " 1\n 0\n[ CPUBoolType{2} ]");
  EXPECT_EQ(to_string(tensor({})), "[ CPUFloatType{0} ]");
}

TEST(Print, Matrices) {
  EXPECT_EQ(to_string(tensor({{1.0, 2.0}, {3.0, 4.0}})),
            " 1  2\n 3  4\n[ CPUFloatType{2,2} ]");
}

TEST(Print, ScaleOfSmallAndLargeNumbers) {
  EXPECT_EQ(to_string(tensor({0.00015, 0.0002})),
            "0.0001 *\n 1.5000\n 2.0000\n[ CPUFloatType{2} ]");
  EXPECT_EQ(to_string(tensor({1e-8, 1.5}, kDouble)),
            " 1.0000e-08\n 1.5000e+00\n[ CPUDoubleType{2} ]");
}

TEST(Print, NotFinite) {
  EXPECT_EQ(to_string(tensor({1.0, -INFINITY, NAN})),
            "    1\n -inf\n  nan\n[ CPUFloatType{3} ]");
}

TEST(Print, BatchesFirstDimFastest) {
  EXPECT_EQ(to_string(tensor({{{1, 2}}, {{3, 4}}})),
            "(1,.,.) = \n  1  2\n\n(2,.,.) = \n  3  4\n"
            "[ CPULongType{2,1,2} ]");
  const std::string four = to_string(tensor({{{{1}}, {{2}}}, {{{3}}, {{4}}}}));
  EXPECT_LT(four.find("(2,1,.,.) = \n  3"), four.find("(1,2,.,.) = \n  2"));
}

TEST(Print, ColumnsBeyondTheLine) {
  const std::vector<int64_t> row(60, 7);
  const std::string text = to_string(tensor({row, row}));
  EXPECT_NE(text.find("Columns 1 to 26\n 7  7"), std::string::npos) << text;
  EXPECT_NE(text.find("Columns 53 to 60\n"), std::string::npos) << text;
}

TEST(Print, Stream) {
  std::ostringstream s;
  s << tensor({3});
  EXPECT_EQ(s.str(), " 3\n[ CPULongType{1} ]");
}

TEST(Print, MetaHasNoElements) {
  EXPECT_EQ(to_string(Tensor(make_tensor({2, 3}, kFloat, Device(kMeta)))),
            "[ MetaFloatType{2,3} ]");
}

}  // namespace
}  // namespace sy
