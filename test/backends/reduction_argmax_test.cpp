#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/reduction.h"
#include "aten/ops/view.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

int64_t argmax_of(const Tensor& t) { return argmax(t).item<int64_t>(); }
int64_t argmin_of(const Tensor& t) { return argmin(t).item<int64_t>(); }

using Places = std::vector<int64_t>;

TEST(Argmax, TheFirstOfEquals) {
  EXPECT_EQ(argmax_of(tensor({1, 3, 2, 3})), 1);
  EXPECT_EQ(argmin_of(tensor({2, 1, 1, 3})), 1);
  EXPECT_EQ(argmax_of(tensor({-0.0, 0.0})), 0);
  EXPECT_EQ(argmax_of(tensor(5)), 0);
}

TEST(Argmax, NanIsBestOfAll) {
  for (const ScalarType dtype : {kHalf, kBFloat16, kFloat, kDouble}) {
    const Tensor t = tensor({1.0, (double)NAN, INFINITY, (double)NAN}, dtype);
    EXPECT_EQ(argmax_of(t), 1) << dtype_name(dtype);
    EXPECT_EQ(argmin_of(t), 1) << dtype_name(dtype);
  }
}

TEST(Argmax, LongRows) {
  for (const int64_t n : {15, 16, 17, 1023, 1024, 1025, 5000}) {
    for (const int64_t at : {int64_t{0}, n / 2, n - 2, n - 1}) {
      std::vector<float> row(static_cast<size_t>(n), 1.0f);
      row[static_cast<size_t>(at)] = 2;
      row.back() = 2;
      EXPECT_EQ(argmax_of(tensor(row)), at) << n;
      row[static_cast<size_t>(at)] = NAN;
      EXPECT_EQ(argmin_of(tensor(row)), at) << n;
    }
  }
}

TEST(Argmax, AlongDims) {
  const Tensor t = tensor({{1, 5, 3}, {4, 2, 6}});
  EXPECT_EQ(values<int64_t>(argmax(t, 0)), (Places{1, 0, 1}));
  const Tensor kept = argmin(t, -1, true);
  EXPECT_EQ(kept.sizes(), IntArrayRef({2, 1}));
  EXPECT_EQ(values<int64_t>(kept), (Places{0, 1}));
  EXPECT_EQ(values<int64_t>(argmax(t.t(), 0)), (Places{1, 2}));
}

TEST(Argmax, NothingToChooseFrom) {
  SY_EXPECT_ERROR(argmax(zeros({0})), ValueError, "[argmax] self");
  SY_EXPECT_ERROR(argmin(zeros({2, 0}), 1), ValueError, "[argmin]");
  SY_EXPECT_ERROR(argmax(tensor({false, true})), ValueError,
                  "[argmax] self: expected numbers");
  EXPECT_EQ(argmax(zeros({0, 2}), 1).numel(), 0);
}

}  // namespace
}  // namespace sy::families
