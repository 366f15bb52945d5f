#include "aten/ops/advanced_indexing.h"

#include <gtest/gtest.h>

#include "aten/contract/index_list.h"
#include "aten/operators.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

using Values = std::vector<double>;
using List = std::vector<int64_t>;
using Index = std::vector<std::optional<Tensor>>;

constexpr ScalarType kAll[] = {kByte, kChar,  kShort,  kInt,  kLong,
                               kHalf, kFloat, kDouble, kBool, kBFloat16};

Tensor counting(IntArrayRef sizes, ScalarType dtype = kDouble) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return arange(n).reshape(sizes).to(dtype);
}

TEST(Index, RowsOfEveryDtype) {
  for (const ScalarType dtype : kAll) {
    for (const int64_t width : {1, 3, 40}) {
      const Tensor self = counting({4, width}, dtype);
      const Tensor got = index(self, Index{tensor({2, -4, 2})});
      EXPECT_EQ(got.scalar_type(), dtype);
      EXPECT_EQ(values(got), values(self.index_select(0, tensor({2, 0, 2}))));
    }
  }
}

TEST(Index, WhereTheIndexedDimsGo) {
  const Tensor self = counting({2, 3, 4, 5});
  const Tensor two = tensor({0, 1}), column = tensor({{0}, {2}, {1}});
  const auto sizes = [&](const Index& i) {
    return ints(index(self, i).sizes());
  };
  EXPECT_EQ(sizes({{}, two}), (List{2, 2, 4, 5}));
  EXPECT_EQ(sizes({{}, two, column}), (List{2, 3, 2, 5}));
  EXPECT_EQ(sizes({{}, two, {}, column}), (List{3, 2, 2, 4}));
  EXPECT_EQ(sizes({two, {}, two}), (List{2, 3, 5}));
  EXPECT_EQ(sizes({two, two, two, two}), (List{2}));
  EXPECT_EQ(sizes({{}, {}}), (List{2, 3, 4, 5}));
  const Tensor got = index(self, Index{{}, two, {}, column});
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 2; ++j) {
      const Tensor want = self.select(1, j)
                              .select(2, column.select(0, i).item<int64_t>())
                              .contiguous();
      EXPECT_EQ(values(got.select(0, i).select(0, j)), values(want));
    }
  }
}

TEST(Index, MasksAreTheIndicesOfTheirTrueElements) {
  const Tensor self = counting({2, 3, 4});
  const Tensor mask = tensor({{true, false, true}, {false, true, false}});
  EXPECT_EQ(values(index(self, Index{mask})),
            values(index(self, Index{tensor({0, 0, 1}), tensor({0, 2, 1})})));
  EXPECT_EQ(values(index(self, Index{mask.to(kByte)})),
            values(index(self, Index{mask})));
  const Tensor none = zeros({2, 3}, kBool);
  EXPECT_EQ(ints(index(self, Index{none}).sizes()), (List{0, 4}));
  EXPECT_EQ(ints(index(self, Index{{}, tensor({true, false, true})}).sizes()),
            (List{2, 2, 4}));
}

TEST(Index, StridesOfSelf) {
  const Tensor self = counting({30, 20}).t();
  const Tensor i = tensor({3, 0, 19}), j = tensor({29, 1, 1});
  EXPECT_EQ(values(index(self, Index{i})),
            values(index(self.contiguous(), Index{i})));
  EXPECT_EQ(values(index(self, Index{{}, j})),
            values(index(self.contiguous(), Index{{}, j})));
  EXPECT_EQ(values(index(self, Index{i, j})),
            values(index(self.contiguous(), Index{i, j})));
}

TEST(Index, Errors) {
  const Tensor self = counting({2, 3});
  const auto get = [&](const Index& i) { return index(self, i); };
  SY_EXPECT_ERROR(get({{}, tensor({0, 3})}), IndexError,
                  "[index] indices: expected indices in [-3, 2] for dim 1 of "
                  "size 3, got 3");
  SY_EXPECT_ERROR(get({tensor({-3})}), IndexError, "got -3");
  SY_EXPECT_ERROR(get({tensor({0}), tensor({0}), tensor({0})}), IndexError,
                  "[index] indices: expected at most 2 indices");
  SY_EXPECT_ERROR(get({tensor({0.5})}), IndexError,
                  "expected int64, int32, bool or uint8 tensors");
  SY_EXPECT_ERROR(get({tensor({true, false, true})}), IndexError,
                  "expected a mask of the sizes of self");
  SY_EXPECT_ERROR(get({tensor({0, 1}), tensor({0, 1, 2})}), IndexError,
                  "expected sizes that broadcast, got [2] and [3]");
  SY_EXPECT_ERROR(index(zeros({0, 4}), Index{tensor({0})}), IndexError,
                  "for dim 0 of size 0");
}

TEST(Index, MetaKnowsTheSizes) {
  const Tensor self = zeros({2, 3, 4}, TensorOptions().device(kMeta));
  EXPECT_EQ(ints(index(self, Index{{}, tensor({0, 1}, kCPU)}).sizes()),
            (List{2, 2, 4}));
}

TEST(IndexPut, IsTheReverseOfIndex) {
  for (const ScalarType dtype : kAll) {
    Tensor self = zeros({3, 4, 5}, dtype);
    const Index at = {tensor({2, 0}), {}, tensor({{4}, {1}})};
    const Tensor v = ones({2, 2, 4}, dtype);
    self.index_put_(at, v);
    EXPECT_EQ(values(index(self, at)), values(v)) << dtype_name(dtype);
    EXPECT_EQ(self.to(kLong).sum().item<int64_t>(), 16);
  }
}

TEST(IndexPut, TheLastOfSeveralStaysOrAllAreAdded) {
  const Tensor self = zeros({3}, kLong), at = tensor({1, 1, 2});
  const Tensor v = tensor({5, 6, 7});
  EXPECT_EQ(values(index_put(self, Index{at}, v)), (Values{0, 6, 7}));
  EXPECT_EQ(values(index_put(self, Index{at}, v, true)), (Values{0, 11, 7}));
  EXPECT_EQ(values(self), (Values{0, 0, 0}));
}

TEST(IndexPut, ValuesBroadcast) {
  Tensor self = zeros({3, 4}, kDouble);
  const Tensor mask = tensor({true, false, true});
  self.index_put_(Index{mask}, tensor(2.0, kDouble));
  EXPECT_EQ(values(self), (Values{2, 2, 2, 2, 0, 0, 0, 0, 2, 2, 2, 2}));
  self.index_put_(Index{{}, tensor({1, 3})},
                  tensor({{1.0}, {2.0}, {3.0}}, kDouble), true);
  EXPECT_EQ(values(self), (Values{2, 3, 2, 3, 0, 2, 0, 2, 2, 5, 2, 5}));
  SY_EXPECT_ERROR(index_put(self, Index{mask}, ones({3, 4}, kDouble)),
                  ValueError,
                  "[index_put] values: expected sizes that broadcast to those "
                  "that are indexed, [2, 4], got [3, 4]");
  SY_EXPECT_ERROR(index_put(self, Index{mask}, tensor(1)), ValueError,
                  "the dtype of values");
  SY_EXPECT_ERROR(index_put(self, Index{tensor({0, 3})}, tensor(9.0, kDouble)),
                  IndexError, "got 3");
}

TEST(IndexPut, MoreIndicesThanCanBeCountedAreAnError) {
  const int64_t many = int64_t{1} << 40;
  const Tensor i = zeros({1}, kLong).expand({many});
  Tensor self = zeros({2, 2}, kDouble);
  SY_EXPECT_ERROR(
      self.index_put_(Index{i.unsqueeze(1), i}, tensor(1.0, kDouble)),
      ValueError, "index_put");
}

TEST(IndexPut, IndicesAndValuesMayShareItsMemory) {
  Tensor self = tensor({3, 0, 1, 2});
  self.index_put_(Index{self}, self);
  EXPECT_EQ(values(self), (Values{0, 1, 2, 3}));
  Tensor shifted = tensor({1, 2, 3, 4});
  shifted.index_put_(Index{tensor({1, 2, 3})}, shifted.slice(0, 0, 3));
  EXPECT_EQ(values(shifted), (Values{1, 1, 2, 3}));
}

TEST(TakeAndPut, CountInRowMajorOrder) {
  const Tensor self = counting({2, 3}), turned = counting({3, 2}).t();
  const Tensor at = tensor({{4, -1}, {0, 1}});
  EXPECT_EQ(values(take(self, at)), (Values{4, 5, 0, 1}));
  EXPECT_EQ(values(take(turned, at)), (Values{3, 5, 0, 2}));
  const Tensor v = tensor({1.0, 2.0, 3.0, 4.0}, kDouble);
  EXPECT_EQ(values(put(turned, at, v)), (Values{3, 4, 4, 1, 1, 2}));
  EXPECT_EQ(values(put(self, tensor({0, 0, 0, 5}), v, true)),
            (Values{6, 1, 2, 3, 4, 9}));
  SY_EXPECT_ERROR(take(self, tensor({6})), IndexError,
                  "[take] index: expected indices in [-6, 5] of a tensor of 6 "
                  "elements, got 6");
  SY_EXPECT_ERROR(put(self, tensor({0}), v), ValueError, "as many indices");
}

TEST(Masked, SelectAndScatterInRowMajorOrder) {
  const Tensor self = counting({3, 4}).t();
  const Tensor mask = tensor({true, false, true});
  EXPECT_EQ(values(masked_select(self, mask)),
            (Values{0, 8, 1, 9, 2, 10, 3, 11}));
  EXPECT_EQ(values(masked_scatter(self, mask, -counting({2, 4}))),
            (Values{0, 4, -1, -2, 5, -3, -4, 6, -5, -6, 7, -7}));
  SY_EXPECT_ERROR(masked_scatter(self, mask, counting({7})), ValueError,
                  "[masked_scatter] source: expected at least 8 elements");
  Tensor narrow = counting({4, 1});
  SY_EXPECT_ERROR(narrow.masked_scatter_(mask, counting({12})), ValueError,
                  "masked_scatter_");
}

TEST(Masked, ManyChunks) {
  const Tensor self = arange(100003), mask = self.remainder(3) == 1;
  const Tensor picked = masked_select(self, mask);
  EXPECT_EQ(picked.numel(), 33334);
  EXPECT_TRUE(picked.equal(arange(1, 100003, 3)));
  EXPECT_TRUE(masked_scatter(zeros_like(self), mask, picked)
                  .equal(self * mask.to(kLong)));
}

TEST(Masked, FillOfAnExpandedTensor) {
  Tensor row = zeros({1, 3}, kDouble);
  row.expand({2, 3}).masked_fill_(
      tensor({{true, false, false}, {false, false, true}}), 4);
  EXPECT_EQ(values(row), (Values{4, 0, 4}));
  SY_EXPECT_ERROR(row.masked_fill_(zeros({2, 3}, kBool), 1), ValueError,
                  "[masked_fill_] mask");
}

TEST(TakeAlongDim, Broadcasts) {
  const Tensor self = counting({2, 3});
  EXPECT_EQ(values(take_along_dim(self, tensor({{2, 0}}), 1)),
            (Values{2, 0, 5, 3}));
  EXPECT_EQ(values(take_along_dim(self, tensor({5, 1}))), (Values{5, 1}));
  SY_EXPECT_ERROR(take_along_dim(self, tensor({1}), 1), ValueError,
                  "expected 2 dims");
}

TEST(RepeatInterleave, Repeats) {
  const Tensor self = counting({2, 2});
  EXPECT_EQ(values(repeat_interleave(self, 2)),
            (Values{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(values(repeat_interleave(self, 2, 0)),
            (Values{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(values(repeat_interleave(self, tensor({0, 3}), 1)),
            (Values{1, 1, 1, 3, 3, 3}));
  EXPECT_EQ(values(repeat_interleave(tensor({1, 0, 2}))), (Values{0, 2, 2}));
  SY_EXPECT_ERROR(repeat_interleave(tensor({1, -1})), ValueError,
                  "got -1 at 1");
  SY_EXPECT_ERROR(repeat_interleave(tensor({INT64_MAX, INT64_MAX})), ValueError,
                  "too large");
  SY_EXPECT_ERROR(repeat_interleave(tensor({INT64_MAX, INT64_MAX, int64_t{4}})),
                  ValueError, "too large");
  SY_EXPECT_ERROR(repeat_interleave(self, tensor({1, 2, 3}), 1), ValueError,
                  "expected 2 numbers");
  SY_EXPECT_ERROR(repeat_interleave(self, -1), ValueError, "at least 0");
}

TEST(TriangleIndices, AreThoseOfTrilAndTriu) {
  for (const int64_t rows : {0, 1, 4}) {
    for (const int64_t cols : {0, 3, 5}) {
      for (int64_t offset = -6; offset <= 6; ++offset) {
        SCOPED_TRACE(str("{} {} {}", rows, cols, offset));
        const Tensor full = ones({rows, cols}, kBool);
        const auto check = [&](const Tensor& got, const Tensor& mask) {
          const auto want = mask_indices(on_host(mask));
          EXPECT_EQ(values(got.select(0, 0)), values(want[0]));
          EXPECT_EQ(values(got.select(0, 1)), values(want[1]));
        };
        check(tril_indices(rows, cols, offset), full.tril(offset));
        check(triu_indices(rows, cols, offset), full.triu(offset));
      }
    }
  }
  EXPECT_EQ(ints(tril_indices(INT64_MAX, 3, INT64_MIN).sizes()), (List{2, 0}));
  SY_EXPECT_ERROR(tril_indices(int64_t{1} << 60, int64_t{1} << 60), ValueError,
                  "too large");
  SY_EXPECT_ERROR(triu_indices(2, -1), ValueError, "[triu_indices] col");
}

}  // namespace
}  // namespace sy::families
