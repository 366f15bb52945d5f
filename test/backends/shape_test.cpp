#include "aten/ops/shape.h"

#include <cmath>

#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/ranges.h"
#include "aten/ops/reduction.h"
#include "aten/ops/view.h"
#include "test/backends/device.h"
#include "test/backends/layouts.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

using Values = std::vector<double>;
using Ints = std::vector<int64_t>;

// 0, 1, 2, ... in row-major order.
Tensor counting(IntArrayRef sizes, ScalarType dtype = kFloat) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  return arange(n, kDouble).view(sizes).to(dtype);
}

TEST(Reshape, IsAViewWhereThatCanBe) {
  const Tensor a = counting({2, 3});
  EXPECT_TRUE(reshape(a, {3, -1}).is_alias_of(a));
  EXPECT_EQ(ints(reshape(a, {3, -1}).sizes()), (Ints{3, 2}));
  EXPECT_FALSE(reshape(a.t(), {6}).is_alias_of(a));
  EXPECT_EQ(values(reshape(a.t(), {6})), (Values{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(ints(a.reshape_as(zeros({1, 6})).sizes()), (Ints{1, 6}));
  EXPECT_EQ(ints(zeros({0, 3}).reshape({0}).sizes()), (Ints{0}));
  SY_EXPECT_ERROR(reshape(a, {4}), ValueError, "[reshape]");
  SY_EXPECT_ERROR(reshape(a, {-1, -1}), ValueError, "[reshape]");
  SY_EXPECT_ERROR(reshape(a, {-1, 4}), ValueError, "[reshape]");
}

TEST(Reshape, DimsAreJoinedAndSplit) {
  const Tensor a = counting({2, 3, 4});
  EXPECT_EQ(ints(flatten(a, 1).sizes()), (Ints{2, 12}));
  EXPECT_EQ(ints(flatten(a, 0, -2).sizes()), (Ints{6, 4}));
  EXPECT_EQ(ints(flatten(a.select(0, 0).select(0, 0).select(0, 0)).sizes()),
            (Ints{1}));
  EXPECT_EQ(ints(unflatten(a, -1, {2, -1}).sizes()), (Ints{2, 3, 2, 2}));
  EXPECT_EQ(values(ravel(counting({2, 3}).t())), (Values{0, 3, 1, 4, 2, 5}));
  SY_EXPECT_ERROR(flatten(a, 2, 1), ValueError, "[flatten]");
  SY_EXPECT_ERROR(flatten(a, 3), IndexError, "[flatten]");
  SY_EXPECT_ERROR(unflatten(a, 2, {3, 2}), ValueError, "[unflatten]");
}

TEST(Clone, HasMemoryOfItsOwn) {
  for (const ScalarType dtype : kDtypes) {
    for (const auto& [name, x] : layouts(counting({3, 4}, dtype))) {
      Tensor copy = clone(x);
      EXPECT_FALSE(copy.is_alias_of(x)) << dtype << " " << name;
      EXPECT_EQ(values(copy), values(counting({3, 4}, dtype)));
      copy.zero_();
      EXPECT_EQ(values(x), values(counting({3, 4}, dtype)));
    }
  }
}

TEST(Clone, LiesAsAskedFor) {
  const Tensor a = counting({2, 3});
  EXPECT_EQ(ints(clone(a.t()).strides()), (Ints{1, 3}));
  EXPECT_EQ(ints(clone(a.t(), MemoryFormat::Contiguous).strides()),
            (Ints{2, 1}));
  EXPECT_TRUE(a.contiguous().is_same(a));
  EXPECT_EQ(ints(a.t().contiguous().strides()), (Ints{2, 1}));
  const Tensor image = counting({2, 3, 4, 5});
  const Tensor last = image.contiguous(MemoryFormat::ChannelsLast);
  EXPECT_EQ(ints(last.strides()), (Ints{60, 1, 15, 3}));
  EXPECT_EQ(values(last), values(image));
}

TEST(Cat, JoinsAlongEveryDim) {
  const Tensor a = tensor({{1, 2}, {3, 4}}), b = tensor({{5, 6}});
  EXPECT_EQ(values(cat({a, b}, 0)), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values(cat({b, a}, -2)), (Values{5, 6, 1, 2, 3, 4}));
  EXPECT_EQ(values(cat({a, b.t()}, 1)), (Values{1, 2, 5, 3, 4, 6}));
  EXPECT_EQ(values(concat({b.t(), a}, -1)), (Values{5, 1, 2, 6, 3, 4}));
  EXPECT_EQ(values(cat({a})), (Values{1, 2, 3, 4}));
}

// Wide parts and narrow ones, empty ones, ones that lie otherwise or convert.
TEST(Cat, JoinsPartsOfEveryWidth) {
  const auto part = [](int64_t size, int64_t from, ScalarType t) {
    return arange(from, from + 6 * size * 8, kLong).to(t).view({6, size, 8});
  };
  for (const ScalarType t : {kByte, kFloat, kDouble}) {
    const Tensor a = part(3, 0, t), b = part(1, 50, t);
    const Tensor empty = a.slice(1, 0, 0);
    const Tensor turned = part(2, 7, t).transpose(0, 2).contiguous();
    const Tensor other = part(2, 9, kInt);
    const std::vector<std::vector<Tensor>> lists = {
        {a, b}, {b, empty, a, a}, {a, turned.transpose(0, 2)}, {other, b, a}};
    for (const std::vector<Tensor>& list : lists) {
      const Tensor all = cat(list, 1);
      int64_t at = 0;
      for (const Tensor& x : list) {
        EXPECT_EQ(values(all.narrow(1, at, x.size(1)).contiguous()),
                  values(x.contiguous()));
        at += x.size(1);
      }
      EXPECT_EQ(at, all.size(1));
    }
  }
}

TEST(Cat, JoinsEveryLayoutAndDtype) {
  for (const ScalarType dtype : kDtypes) {
    const Tensor b = counting({5, 4}, dtype), c = counting({3, 7}, dtype);
    for (const auto& [name, a] : layouts(counting({3, 4}, dtype))) {
      const Tensor rows = cat({a, b, a}, 0), columns = cat({a, c, a}, -1);
      EXPECT_EQ(rows.dtype(), dtype);
      EXPECT_EQ(values(rows.narrow(0, 0, 3)), values(a)) << dtype << name;
      EXPECT_EQ(values(rows.narrow(0, 3, 5)), values(b)) << dtype << name;
      EXPECT_EQ(values(rows.narrow(0, 8, 3)), values(a)) << dtype << name;
      EXPECT_EQ(values(columns.narrow(1, 0, 4)), values(a)) << dtype << name;
      EXPECT_EQ(values(columns.narrow(1, 4, 7)), values(c)) << dtype << name;
      EXPECT_EQ(values(columns.narrow(1, 11, 4)), values(a)) << dtype << name;
    }
    const Tensor row = counting({1, 4}, dtype);
    const Tensor same = cat({row.expand({2, 4}), row}, 0);
    for (int64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(values(same.select(0, i)), values(row)) << dtype;
    }
  }
}

TEST(Cat, PromotesAndSkipsEmptyVectors) {
  const Tensor whole = tensor({{1, 2}}).to(kInt);
  const Tensor all = cat({empty({0}), whole, tensor({{0.5, 1.5}}, kFloat)});
  EXPECT_EQ(all.dtype(), kFloat);
  EXPECT_EQ(values(all), (Values{1, 2, 0.5, 1.5}));
  EXPECT_EQ(ints(cat({empty({0}), empty({0})}).sizes()), (Ints{0}));
  EXPECT_EQ(cat({whole, tensor({{3, 4}})}).dtype(), kLong);
  EXPECT_EQ(cat({ones({1}, kHalf), ones({1}, kBFloat16)}).dtype(), kFloat);
}

TEST(Cat, OfNoElements) {
  const Tensor none = empty({64, 0});
  EXPECT_EQ(ints(cat({none, none}, 1).sizes()), (Ints{64, 0}));
  EXPECT_EQ(ints(cat({empty({64, 3, 0}), empty({64, 2, 0})}, 1).sizes()),
            (Ints{64, 5, 0}));
}

TEST(Cat, JoinsManyTensors) {
  std::vector<Tensor> all;
  Values want;
  for (int64_t i = 0; i < 150; ++i) {
    all.push_back(full({i % 5, 8}, static_cast<double>(i)));
    want.insert(want.end(), static_cast<size_t>(i % 5 * 8),
                static_cast<double>(i));
  }
  EXPECT_EQ(values(cat(all)), want);
}

TEST(Cat, WritesToAnOutput) {
  const Tensor a = tensor({{1, 2}, {3, 4}}).to(kFloat);
  Tensor out = empty({0});
  cat_out(out, {a, a}, 1);
  EXPECT_EQ(values(out), (Values{1, 2, 1, 2, 3, 4, 3, 4}));
  Tensor turned = empty({4, 2}, kDouble).t();
  cat_out(turned, {a, a}, 1);
  EXPECT_EQ(ints(turned.strides()), (Ints{1, 2}));
  EXPECT_EQ(values(turned), (Values{1, 2, 1, 2, 3, 4, 3, 4}));
  Tensor whole = empty({2, 4}, kLong);
  SY_EXPECT_ERROR(cat_out(whole, {a, a}, 1), TypeError, "[cat.out] out");
  Tensor both = counting({2, 4});
  Tensor part = both.narrow(1, 0, 2);
  cat_out(both, {part, part}, 1);
  EXPECT_EQ(values(both), (Values{0, 1, 0, 1, 4, 5, 4, 5}));
}

TEST(Cat, ChecksItsArguments) {
  const Tensor a = ones({2, 3});
  SY_EXPECT_ERROR(cat(TensorList()), ValueError, "cat] tensors");
  SY_EXPECT_ERROR(cat({a, ones({3, 2})}), ValueError, "[cat] tensors");
  SY_EXPECT_ERROR(cat({a, ones({2, 3, 1})}), ValueError, "[cat] tensors");
  SY_EXPECT_ERROR(cat({a, a}, 2), IndexError, "[cat] dim");
  SY_EXPECT_ERROR(cat({tensor(1), tensor(2)}), ValueError, "[cat] tensors");
  SY_EXPECT_ERROR(cat({a, ones({2, 3}, kMeta)}), ValueError, "device");
}

TEST(Cat, GradientsAreParts) {
  const Tensor a = ones({2, 2}).requires_grad_();
  const Tensor b = ones({2, 1}).requires_grad_();
  const Tensor none = ones({0}).requires_grad_();
  (cat({a, none, b}, 1) * counting({2, 3})).sum().backward();
  EXPECT_EQ(values(a.grad()), (Values{0, 1, 3, 4}));
  EXPECT_EQ(values(b.grad()), (Values{2, 5}));
  EXPECT_EQ(none.grad().numel(), 0);
}

TEST(Stack, JoinsAlongANewDim) {
  const Tensor a = tensor({1, 2}), b = tensor({3, 4});
  EXPECT_EQ(values(stack({a, b})), (Values{1, 2, 3, 4}));
  EXPECT_EQ(values(stack({a, b}, 1)), (Values{1, 3, 2, 4}));
  EXPECT_EQ(values(stack({a, b}, -1)), (Values{1, 3, 2, 4}));
  EXPECT_EQ(ints(stack({tensor(1), tensor(2)}).sizes()), (Ints{2}));
  Tensor out = empty({0}, kLong);
  stack_out(out, {a, b}, 1);
  EXPECT_EQ(values(out), (Values{1, 3, 2, 4}));
  SY_EXPECT_ERROR(stack({a, tensor({1})}), ValueError, "tensors");
  SY_EXPECT_ERROR(stack({a, b}, 2), IndexError, "dim");
  SY_EXPECT_ERROR(stack(TensorList()), ValueError, "[stack] tensors");
}

TEST(Repeat, LaysCopiesSideBySide) {
  const Tensor a = tensor({{1, 2}, {3, 4}});
  EXPECT_EQ(values(a.repeat({1, 2})), (Values{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(values(a.t().repeat({2, 1})), (Values{1, 3, 2, 4, 1, 3, 2, 4}));
  EXPECT_EQ(ints(a.repeat({3, 1, 2}).sizes()), (Ints{3, 2, 4}));
  EXPECT_EQ(ints(a.repeat({0, 2}).sizes()), (Ints{0, 4}));
  Tensor out = empty({0}, kLong);
  repeat_out(out, tensor({7, 8}), {2, 2});
  EXPECT_EQ(values(out), (Values{7, 8, 7, 8, 7, 8, 7, 8}));
  SY_EXPECT_ERROR(a.repeat({2}), ValueError, "[repeat]");
  SY_EXPECT_ERROR(a.repeat({2, -1}), ValueError, "[repeat]");
}

// The elements of a contiguous x of three dims, the order of some reversed.
Values flipped(const Tensor& x, const Ints& dims) {
  const Values from = values(x);
  bool turned[3] = {};
  for (const int64_t d : dims) turned[d < 0 ? d + 3 : d] = true;
  const int64_t a = x.size(0), b = x.size(1), c = x.size(2);
  Values all;
  for (int64_t i = 0; i < a; ++i) {
    for (int64_t j = 0; j < b; ++j) {
      for (int64_t k = 0; k < c; ++k) {
        const int64_t at[] = {turned[0] ? a - 1 - i : i,
                              turned[1] ? b - 1 - j : j,
                              turned[2] ? c - 1 - k : k};
        all.push_back(
            from[static_cast<size_t>((at[0] * b + at[1]) * c + at[2])]);
      }
    }
  }
  return all;
}

TEST(Flip, TurnsEveryDim) {
  for (const ScalarType dtype : kDtypes) {
    const Tensor a = counting({4, 5, 6}, dtype);
    for (const auto& [name, x] : layouts(a)) {
      for (const Ints& dims :
           std::vector<Ints>{{}, {0}, {1}, {2}, {0, 2}, {-1, 1}, {0, 1, 2}}) {
        EXPECT_EQ(values(x.flip(dims)), flipped(a, dims))
            << dtype << " " << name << " " << IntArrayRef(dims);
      }
    }
  }
  const Tensor row = tensor({{1, 2, 3}});
  EXPECT_EQ(values(row.expand({2, 3}).flip({0, 1})),
            (Values{3, 2, 1, 3, 2, 1}));
}

TEST(Flip, OfNoDimsAndNoElements) {
  EXPECT_EQ(ints(empty({0, 3}).flip({0}).sizes()), (Ints{0, 3}));
  EXPECT_EQ(values(tensor(7).flip({-1})), (Values{7}));
}

TEST(Flip, WritesToAnOutputAndPassesGradients) {
  const Tensor a = tensor({{1.0, 2.0}, {3.0, 4.0}}, kFloat);
  Tensor out = empty({2, 2}).t();
  flip_out(out, a, {0});
  EXPECT_EQ(values(out), (Values{3, 4, 1, 2}));
  const Tensor x = ones({2, 2}).requires_grad_();
  (x.flip({1}) * a).sum().backward();
  EXPECT_EQ(values(x.grad()), (Values{2, 1, 4, 3}));
}

TEST(Flip, DimsAreDistinctAndInRange) {
  const Tensor a = ones({2, 3});
  SY_EXPECT_ERROR(a.flip({2}), IndexError, "[flip] dim");
  SY_EXPECT_ERROR(a.flip({-3}), IndexError, "[flip] dim");
  SY_EXPECT_ERROR(a.flip({1, -1}), ValueError, "[flip] dim");
}

// The elements of a contiguous x, 0 on one side of a diagonal.
Values triangle(const Tensor& x, int64_t diagonal, bool upper) {
  Values all = values(x);
  const int64_t rows = x.size(-2), columns = x.size(-1);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t beyond = at % columns - at / columns % rows;
    if (upper ? beyond < diagonal : beyond > diagonal) all[i] = 0;
  }
  return all;
}

TEST(Triangle, KeepsOneSideOfADiagonal) {
  for (const ScalarType dtype : kDtypes) {
    const Tensor a = counting({2, 5, 7}, dtype) + ones({}, dtype);
    for (const auto& [name, x] : layouts(a)) {
      for (const int64_t d : {int64_t{0}, int64_t{2}, int64_t{-3}, int64_t{100},
                              INT64_MIN, INT64_MAX}) {
        EXPECT_EQ(values(x.tril(d)), triangle(a, d, false))
            << dtype << " " << name << " " << d;
        EXPECT_EQ(values(x.triu(d)), triangle(a, d, true))
            << dtype << " " << name << " " << d;
      }
      Tensor own = x;
      own.tril_(1).triu_(-1);
      const Tensor lower = a.tril(1);
      EXPECT_EQ(values(own), triangle(lower, -1, true)) << dtype << " " << name;
    }
  }
}

TEST(Triangle, OfNaNsAndOfWhatIsExpanded) {
  const Tensor nan = full({2, 2}, NAN).tril();
  EXPECT_EQ(values(nan)[1], 0);
  EXPECT_TRUE(std::isnan(values(nan)[2]));
  const Tensor row = tensor({{1, 2, 3}}).expand({3, 3});
  EXPECT_EQ(values(row.tril()), (Values{1, 0, 0, 1, 2, 0, 1, 2, 3}));
  EXPECT_EQ(values(row.triu()), (Values{1, 2, 3, 0, 2, 3, 0, 0, 3}));
  EXPECT_EQ(ints(empty({0, 3}).tril().sizes()), (Ints{0, 3}));
  EXPECT_EQ(ints(empty({2, 3, 0}).triu().sizes()), (Ints{2, 3, 0}));
}

TEST(Triangle, WritesToAnOutputAndPassesGradients) {
  Tensor out = ones({3, 2}).t();
  triu_out(out, counting({2, 3}), 1);
  EXPECT_EQ(values(out), (Values{0, 1, 2, 0, 0, 5}));
  Tensor other = ones({2, 3}, kInt);
  SY_EXPECT_ERROR(tril_out(other, counting({2, 3})), TypeError,
                  "[tril.out] out");
  const Tensor x = ones({2, 3}).requires_grad_();
  (x.tril() * counting({2, 3})).sum().backward();
  EXPECT_EQ(values(x.grad()), (Values{0, 0, 0, 3, 4, 0}));
}

TEST(Triangle, IsOfMatrices) {
  SY_EXPECT_ERROR(ones({3}).tril(), ValueError, "[tril] self");
  SY_EXPECT_ERROR(ones({3}).triu(), ValueError, "[triu] self");
}

}  // namespace
}  // namespace sy::families
