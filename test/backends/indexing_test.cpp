#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "aten/ops/ranges.h"
#include "aten/ops/scatter.h"
#include "aten/ops/view.h"
#include "c10/process/parallel.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

constexpr ScalarType kAll[] = {kByte, kChar,  kShort,  kInt,  kLong,
                               kHalf, kFloat, kDouble, kBool, kBFloat16};

// 0, 1, 2, ... in row-major order.
Tensor counting(IntArrayRef sizes, ScalarType dtype) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  return arange(n, kDouble).view(sizes).to(dtype);
}

using Values = std::vector<double>;

TEST(IndexSelect, TakesSlicesOfEveryDtype) {
  for (const ScalarType dtype : kAll) {
    const Tensor self = counting({3, 4}, dtype);
    for (const ScalarType index : {kInt, kLong}) {
      Tensor out = empty({2, 4}, dtype);
      index_select_out(out, self, 0, tensor({2, 0}, index));
      const Values v = values(self);
      Values want(v.begin() + 8, v.end());
      want.insert(want.end(), v.begin(), v.begin() + 4);
      EXPECT_EQ(values(out), want) << dtype_name(dtype);
    }
  }
}

TEST(IndexSelect, InnerDimsAndStrides) {
  const Tensor self = counting({2, 3}, kFloat);
  Tensor out = empty({2, 2}, kFloat);
  index_select_out(out, self, -1, tensor({2, 0}));
  EXPECT_EQ(values(out), (Values{2, 0, 5, 3}));
  index_select_out(out, self.t(), 0, tensor({2, 0}));
  EXPECT_EQ(values(out), (Values{2, 5, 0, 3}));
  Tensor across = out.t();
  index_select_out(across, self, 1, tensor({2, 0}));
  EXPECT_EQ(values(out), (Values{2, 5, 0, 3}));
}

TEST(IndexSelect, RowsAreCopiedWhole) {
  const Tensor self = counting({5, 300, 20}, kFloat);
  Tensor out = empty({5, 4, 20}, kFloat);
  index_select_out(out, self, 1, tensor({299, 0, 7, 7}));
  const Values v = values(out);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(v[i * 80], static_cast<double>(i * 6000 + 299 * 20));
    EXPECT_EQ(v[i * 80 + 79], static_cast<double>(i * 6000 + 7 * 20 + 19));
  }
}

TEST(IndexSelect, WithoutDims) {
  Tensor out = empty(IntArrayRef(), kFloat);
  index_select_out(out, tensor(5.0), 0, tensor({0}));
  EXPECT_EQ(values(out), Values{5});
  SY_EXPECT_ERROR(
      index_select(tensor(5.0), 0, tensor({0, 0})), ValueError,
      "[index_select] index: expected one index for a tensor without dims");
}

TEST(IndexSelect, IndicesOutOfRange) {
  const Tensor self = counting({3, 4}, kFloat);
  SY_EXPECT_ERROR(index_select(self, 0, tensor({0, 3})), IndexError,
                  "[index_select] index: expected indices in [0, 2] for dim 0 "
                  "of size 3, got 3 at [1]");
  SY_EXPECT_ERROR(index_select(self, 0, tensor({-1, 0})), IndexError,
                  "got -1 at [0]");
  SY_EXPECT_ERROR(index_select(self, 2, tensor({0, 0})), IndexError,
                  "[index_select] dim");
}

TEST(Gather, TakesElements) {
  const Tensor index = tensor({{2, 0}, {1, 1}});
  for (const ScalarType dtype : {kByte, kBFloat16, kFloat, kDouble}) {
    const Tensor self = counting({2, 3}, dtype);
    Tensor out = empty({2, 2}, dtype);
    gather_out(out, self, 1, index, false);
    EXPECT_EQ(values(out), (Values{2, 0, 4, 4}));
    Tensor tall = empty({3, 2}, dtype);
    gather_out(tall, self, 0, tensor({{0, 1}, {1, 0}, {0, 0}}), false);
    EXPECT_EQ(values(tall), (Values{0, 4, 3, 1, 0, 1}));
  }
  const Tensor self = counting({3, 2}, kFloat);
  Tensor out = empty({2, 2}, kFloat);
  Tensor across = out.t();
  gather_out(across, self.t(), 1, index.t(), false);
  EXPECT_EQ(values(out), (Values{4, 1, 2, 3}));
}

TEST(Gather, ChecksIndicesAndSizes) {
  const Tensor self = counting({2, 3}, kFloat);
  SY_EXPECT_ERROR(
      gather(self, 1, tensor({{0, 1}, {3, 0}}), false), IndexError,
      "[gather] index: expected indices in [0, 2] for dim 1 of size 3, got 3 "
      "at "
      "[1, 0]");
  SY_EXPECT_ERROR(
      gather(self, 1, tensor({{0}, {0}, {0}}), false), ValueError,
      "[gather] index: expected sizes of at most those of self, [2, 3], got "
      "[3, 1]");
  SY_EXPECT_ERROR(gather(self, 2, tensor({{0}})), IndexError, "dim");
  SY_EXPECT_ERROR(gather(zeros({0}), 0, tensor({0})), IndexError, "[gather]");
}

TEST(IndexAdd, AddsRepeatedSlicesInEveryDtype) {
  for (const ScalarType dtype : kAll) {
    const Tensor self = counting({3, 2}, dtype);
    Tensor out = empty({3, 2}, dtype);
    const Tensor source = counting({3, 2}, dtype);
    const Scalar alpha = dtype == kBool ? Scalar(true) : Scalar(2);
    index_add_out(out, self, 0, tensor({2, 0, 2}), source, alpha);
    const Values want =
        dtype == kBool ? Values{1, 1, 1, 1, 1, 1} : Values{4, 7, 2, 3, 12, 17};
    EXPECT_EQ(values(out), want) << dtype_name(dtype);
  }
}

TEST(IndexAdd, InnerDimStridesAndThreads) {
  const Tensor self = counting({40, 3000}, kFloat);
  const Tensor source = counting({2, 3000}, kFloat);
  Tensor out = empty({40, 3000}, kFloat);
  const int threads = get_num_threads();
  set_num_threads(4);
  index_add_out(out, self, 0, tensor({7, 7}), source, -1);
  set_num_threads(threads);
  Values want = values(self);
  for (size_t c = 0; c < 3000; ++c) {
    want[7 * 3000 + c] -= static_cast<double>(2 * c + 3000);
  }
  EXPECT_EQ(values(out), want);
  const Tensor small = counting({2, 3}, kFloat);
  Tensor to = empty({2, 3}, kFloat);
  index_add_out(to, small, 1, tensor({1, 1}), counting({2, 2}, kFloat).t(), 1);
  EXPECT_EQ(values(to), (Values{0, 3, 2, 3, 8, 5}));
}

// Rows that threads own: evenly, most of them one, and out of many more rows
// than there are buckets.
TEST(IndexAdd, ManyRowsAreJoinedInOrderByEveryNumberOfThreads) {
  constexpr int64_t kColumns = 130, kCount = 700;
  const Tensor source = counting({kCount, kColumns}, kFloat);
  for (const int64_t rows : {3, 700, 5000}) {
    for (const bool skewed : {false, true}) {
      std::vector<int64_t> at;
      for (int64_t k = 0; k < kCount; ++k) {
        at.push_back(skewed && k % 8 != 0 ? rows - 1 : k * 7919 % rows);
      }
      const Tensor index = tensor(at);
      const Tensor self = counting({rows, kColumns}, kFloat);
      Values sum = values(self), last = sum;
      const Values from = values(source);
      for (size_t i = 0; i < from.size(); ++i) {
        const size_t to =
            static_cast<size_t>(at[i / kColumns]) * kColumns + i % kColumns;
        sum[to] = static_cast<float>(sum[to] + from[i]);
        last[to] = from[i];
      }
      const int threads = get_num_threads();
      for (const int n : {1, 2, 5}) {
        set_num_threads(n);
        Tensor out = empty({rows, kColumns}, kFloat);
        index_add_out(out, self, 0, index, source, 1);
        EXPECT_EQ(values(out), sum) << rows << ' ' << skewed << ' ' << n;
        index_copy_out(out, self, 0, index, source);
        EXPECT_EQ(values(out), last) << rows << ' ' << skewed << ' ' << n;
      }
      set_num_threads(threads);
    }
  }
}

TEST(IndexAdd, ChecksItsArguments) {
  const Tensor self = counting({3, 2}, kLong);
  const Tensor source = counting({1, 2}, kLong);
  SY_EXPECT_ERROR(index_add(self, 0, tensor({3}), source, 1), IndexError,
                  "[index_add] index: expected indices in [0, 2] for dim 0 of "
                  "size 3, got 3 "
                  "at [0]");
  SY_EXPECT_ERROR(
      index_add(self, 0, tensor({1}), source, 1.5), TypeError,
      "[index_add] alpha: expected a whole number for int64, got 1.5");
  SY_EXPECT_ERROR(index_add(self, 0, tensor({1}), source, true), TypeError,
                  "[index_add] alpha: expected a number for int64, got a bool");
  SY_EXPECT_ERROR(index_add(self, 0, tensor({1, 1}), source, 1), ValueError,
                  "[index_add] source: expected sizes [2, 2]");
}

TEST(ScatterAdd, AddsElements) {
  const Tensor index = tensor({{0, 2, 0}, {1, 1, 1}});
  for (const ScalarType dtype : kAll) {
    const Tensor self = counting({2, 3}, dtype);
    Tensor out = empty({2, 3}, dtype);
    scatter_add_out(out, self, 1, index, counting({3, 4}, dtype));
    const Values want =
        dtype == kBool ? Values{1, 1, 1, 1, 1, 1} : Values{2, 1, 3, 3, 19, 5};
    EXPECT_EQ(values(out), want) << dtype_name(dtype);
  }
}

TEST(ScatterAdd, NoIndicesAddNothing) {
  const Tensor self = counting({2, 3}, kFloat);
  Tensor out = empty({2, 3}, kFloat);
  scatter_add_out(out, self, 1, empty({2, 0}, kLong), self);
  EXPECT_EQ(values(out), values(self));
}

TEST(ScatterAdd, ChecksIndicesAndSizes) {
  const Tensor self = counting({2, 3}, kFloat);
  SY_EXPECT_ERROR(
      scatter_add(self, 0, tensor({{2}}), self), IndexError,
      "[scatter_add] index: expected indices in [0, 1] for dim 0 of "
      "size 2, got 2 at "
      "[0, 0]");
  SY_EXPECT_ERROR(
      scatter_add(self, 1, tensor({{0, 0, 0, 0}}), self), ValueError,
      "[scatter_add] index: expected sizes of at most those of src");
}

}  // namespace
}  // namespace sy::families
