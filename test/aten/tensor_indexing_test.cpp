#include "aten/tensor_indexing.h"

#include <gtest/gtest.h>

#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "aten/tensor_new.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

using indexing::Ellipsis;
using indexing::None;
using indexing::Slice;

using Values = std::vector<double>;
using List = std::vector<int64_t>;

Tensor counting(IntArrayRef sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return arange(n).reshape(sizes);
}

TEST(Indexing, ViewsShareMemory) {
  const Tensor x = counting({2, 3, 4});
  const auto is = [&](const Tensor& got, const Tensor& want) {
    EXPECT_EQ(ints(got.sizes()), ints(want.sizes()));
    EXPECT_EQ(values(got), values(want));
    EXPECT_TRUE(got.is_alias_of(x));
    EXPECT_FALSE(got.is_same(x));
  };
  is(x.index({0}), x.select(0, 0));
  is(x.index({-1, 2}), x.select(0, 1).select(0, 2));
  is(x.index({Slice(1, None)}), x.slice(0, 1));
  is(x.index({Slice(), Slice(None, -1), Slice(0, 4, 2)}),
     x.slice(1, 0, 2).slice(2, 0, 4, 2));
  is(x.index({"...", 3}), x.select(2, 3));
  is(x.index({Ellipsis, None, 3}), x.select(2, 3).unsqueeze(2));
  is(x.index({0, Ellipsis, 3}), x.select(0, 0).select(1, 3));
  is(x.index({None, Slice(), 1}), x.select(1, 1).unsqueeze(0));
  is(x.index({Ellipsis}), x);
  is(x.index({tensor(1), 0}), x.select(0, 1).select(0, 0));
  is(x.index({size_t{1}, uint8_t{2}}), x.select(0, 1).select(0, 2));
  is(x[1], x.select(0, 1));
  is(x[1][2], x.select(0, 1).select(0, 2));
  is(x[tensor(-1)], x.select(0, 1));
}

TEST(Indexing, TensorsAndMasks) {
  const Tensor x = counting({2, 3, 4});
  const Tensor at = tensor({2, 0});
  EXPECT_EQ(values(x.index({1, at, 3})), (Values{23, 15}));
  EXPECT_EQ(ints(x.index({Slice(), at, None}).sizes()), (List{2, 2, 1, 4}));
  EXPECT_EQ(ints(x.index({at.slice(0, 1), Slice(), tensor({0})}).sizes()),
            (List{1, 3}));
  const Tensor mask = tensor({{true, false, false}, {false, false, true}});
  EXPECT_EQ(values(x.index({mask, 1})), (Values{1, 21}));
  EXPECT_EQ(values(x.index({mask, Slice(2, None)})), (Values{2, 3, 22, 23}));
  EXPECT_EQ(values(x[mask]), values(x.index({mask})));
  EXPECT_EQ(ints(x.index({true}).sizes()), (List{1, 2, 3, 4}));
  EXPECT_EQ(ints(x.index({false, 0}).sizes()), (List{0, 3, 4}));
  EXPECT_EQ(ints(x.index({tensor(true)}).sizes()), (List{1, 2, 3, 4}));
}

TEST(Indexing, Writes) {
  Tensor x = zeros({2, 3}, kLong);
  x.index_put_({0, Slice(1, None)}, 5);
  EXPECT_EQ(values(x), (Values{0, 5, 5, 0, 0, 0}));
  x.index_put_({Ellipsis, 0}, tensor({7, 8}));
  EXPECT_EQ(values(x), (Values{7, 5, 5, 8, 0, 0}));
  x.index_put_({Slice(), tensor({2, 1})}, tensor({{{1, 2}}}));
  EXPECT_EQ(values(x), (Values{7, 2, 1, 8, 2, 1}));
  x.index_put_({x.eq(2)}, 9);
  EXPECT_EQ(values(x), (Values{7, 9, 1, 8, 9, 1}));
  x.index_put_({tensor({0, 0})}, tensor({{1, 1, 1}}), true);
  EXPECT_EQ(values(x), (Values{9, 11, 3, 8, 9, 1}));
  x.index_put_({Ellipsis}, 0.5);
  EXPECT_EQ(values(x), Values(6, 0));
}

TEST(Indexing, Errors) {
  const Tensor x = counting({2, 3});
  SY_EXPECT_ERROR(x.index({0, 0, 0}), IndexError,
                  "[index] indices: expected at most 2 indices for int64[2, 3] "
                  "on cpu, got 3");
  SY_EXPECT_ERROR(x.index({Slice(), 3}), IndexError,
                  "[index] indices: expected an index in [-3, 2] for dim 1 of "
                  "size 3, got 3");
  SY_EXPECT_ERROR(x.index({"..", 3}), ValueError, "expected \"...\"");
  SY_EXPECT_ERROR(x.index({Ellipsis, Ellipsis}), IndexError, "got several");
  SY_EXPECT_ERROR(x.index({Slice(0, 2, -1)}), ValueError,
                  "a step of at least 1, got -1");
  SY_EXPECT_ERROR(x[2], IndexError, "got 2");
  SY_EXPECT_ERROR(tensor(1)[0], IndexError, "");
  SY_EXPECT_ERROR(Tensor().index({0}), ValueError, "undefined");
}

TEST(Accessor, ChecksIndicesWhereAsked) {
  const Tensor x = counting({2, 3}).t();
  const auto a = x.accessor<int64_t, 2>();
  const auto p = x.packed_accessor64<int64_t, 2>();
  EXPECT_EQ(a[2][1], 5);
  EXPECT_EQ(a.at(2).at(1), 5);
  EXPECT_EQ(p[2][1], 5);
  EXPECT_EQ(p.size(0), 3);
  p.at(0).at(1) = 9;
  EXPECT_EQ(values(x), (Values{0, 9, 1, 4, 2, 5}));
  SY_EXPECT_ERROR(a.at(3), IndexError,
                  "[accessor] expected an index in [0, 2] for a dim of size 3, "
                  "got 3");
  SY_EXPECT_ERROR(p.at(0).at(-1), IndexError, "got -1");
  SY_EXPECT_ERROR((x.packed_accessor64<float, 2>()), TypeError, "[accessor]");
}

TEST(Indexing, RowsInALoop) {
  const Tensor x = counting({3, 2});
  Values sums;
  for (const Tensor row : x) sums.push_back(row.sum().item<double>());
  EXPECT_EQ(sums, (Values{1, 5, 9}));
  SY_EXPECT_ERROR(begin(tensor(1)), IndexError, "dim");
}

}  // namespace
}  // namespace sy
