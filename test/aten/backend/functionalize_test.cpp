#include "aten/backend/functionalize.h"

#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/batch_norm.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/foreach_arithmetic.h"
#include "aten/ops/indexing.h"
#include "aten/ops/math.h"
#include "aten/ops/random.h"
#include "aten/ops/ranges.h"
#include "aten/ops/reduction.h"
#include "aten/ops/shape.h"
#include "aten/ops/sort.h"
#include "aten/ops/view.h"
#include "aten/ops/view_alias.h"
#include "aten/ops/view_inplace.h"
#include "aten/tensor_new.h"
#include "c10/generator.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

using Values = std::vector<double>;

// 0, 1, 2 … with the sizes given.
Tensor counting(IntArrayRef sizes, ScalarType dtype = kFloat) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return arange(n, TensorOptions(dtype)).reshape(sizes);
}

Values read(const Tensor& t) { return values(functional_value(t)); }

// A program does the same to an ordinary tensor and to a functional one of the
// same elements; the value of the functional one stays as it was.
template <class Program>
void expect_same(const Tensor& start, Program program) {
  const Tensor plain = start.clone();
  const Tensor value = start.clone();
  const Tensor functional = functionalize(value);
  const std::vector<Tensor> want = program(plain);
  const std::vector<Tensor> got = program(functional);
  ASSERT_EQ(want.size(), got.size());
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_TRUE(is_functional(got[i])) << i;
    EXPECT_EQ(ints(got[i].sizes()), ints(want[i].sizes())) << i;
    EXPECT_EQ(ints(got[i].strides()), ints(want[i].strides())) << i;
    EXPECT_EQ(got[i].scalar_type(), want[i].scalar_type()) << i;
    EXPECT_EQ(read(got[i]), values(want[i])) << i;
    EXPECT_EQ(got[i].is_alias_of(functional), want[i].is_alias_of(plain)) << i;
  }
  EXPECT_EQ(read(functional), values(plain));
  EXPECT_EQ(values(value), values(start)) << "the value was written";
}

TEST(Functionalize, WrapsAndUnwraps) {
  const Tensor t = counting({2, 3});
  const Tensor f = functionalize(t);
  EXPECT_TRUE(is_functional(f));
  EXPECT_FALSE(is_functional(t));
  EXPECT_TRUE(functionalize(f).is_same(f));
  EXPECT_FALSE(functionalize(Tensor()).defined());
  EXPECT_EQ(ints(f.sizes()), ints(t.sizes()));
  EXPECT_EQ(f.device(), t.device());
  EXPECT_TRUE(functional_value(f).is_alias_of(t));
  EXPECT_TRUE(functional_value(t).is_same(t));
}

TEST(Functionalize, PureCallsGiveFunctionalTensors) {
  expect_same(counting({2, 3}), [](const Tensor& t) {
    return std::vector<Tensor>{t + 1, t.sum(), t * t, t.t() + t.t()};
  });
}

TEST(Functionalize, AWriteReplacesTheValue) {
  expect_same(counting({4}), [](Tensor t) {
    t.add_(1);
    t.mul_(t);
    t.zero_();
    t.fill_(3);
    return std::vector<Tensor>{t};
  });
}

TEST(Functionalize, BaseAndViewsAgree) {
  expect_same(counting({4, 4}), [](Tensor t) {
    Tensor row = t.select(0, 1);
    Tensor part = t.slice(1, 1, 4, 2);
    Tensor flat = t.view({16});
    row.add_(100);
    part.mul_(2);
    t.select(0, 3).zero_();
    flat.slice(0, 0, 2).fill_(-1);
    return std::vector<Tensor>{row, part, flat, t.diagonal()};
  });
}

TEST(Functionalize, ViewsOfViews) {
  expect_same(counting({2, 3, 4}), [](Tensor t) {
    Tensor a = t.permute({2, 0, 1});
    Tensor b = a.select(1, 1);
    Tensor c = b.slice(0, 1, 3).t();
    c.add_(1000);
    Tensor d = c.unsqueeze(0).squeeze();
    d.select(0, 0).fill_(7);
    t.transpose(0, 2).diagonal().mul_(2);
    return std::vector<Tensor>{a, b, c, d};
  });
}

TEST(Functionalize, ManyOutputs) {
  expect_same(counting({4, 3}), [](Tensor t) {
    std::vector<Tensor> out = t.unbind(1);
    out[1].mul_(10);
    for (const Tensor& piece : t.split(3, 0)) out.push_back(piece);
    out.back().zero_();
    for (const Tensor& piece : t.chunk(2, 0)) out.push_back(piece);
    for (const Tensor& piece : t.tensor_split(3, 0)) out.push_back(piece);
    out.back().add_(1);
    return out;
  });
}

TEST(Functionalize, ViewsByTheStorage) {
  expect_same(counting({4, 4}), [](Tensor t) {
    Tensor a = t.as_strided({3, 2}, {5, 1}, 1);
    a.add_(50);
    Tensor b = t.unfold(0, 2, 2);
    b.mul_(3);
    Tensor c = t.detach();
    c.add_(1);
    return std::vector<Tensor>{a, b, c};
  });
}

TEST(Functionalize, ViewsOfAnotherDtype) {
  expect_same(counting({2, 4}), [](Tensor t) {
    Tensor bits = t.view(kInt);
    bits.select(0, 1).zero_();
    Tensor bytes = t.view(kByte);
    bytes.slice(1, 0, 4).fill_(0);
    return std::vector<Tensor>{bits, bytes};
  });
}

TEST(Functionalize, GeometryChangesInPlace) {
  expect_same(counting({3, 3}), [](Tensor t) {
    Tensor row = t.select(0, 0);
    t.t_();
    t.add_(1);
    Tensor column = t.select(0, 0);
    column.mul_(10);
    t.unsqueeze_(0);
    return std::vector<Tensor>{row, column};
  });
}

TEST(Functionalize, Resizing) {
  expect_same(counting({2, 2}), [](Tensor t) {
    t.resize_({3});
    t.add_(1);
    t.resize_({2, 2});
    t.slice(0, 0, 1).zero_();
    return std::vector<Tensor>{t};
  });
}

TEST(Functionalize, OutArguments) {
  const Tensor a = counting({2, 3});
  Tensor out = functionalize(empty({0}));
  EXPECT_TRUE(add_out(out, a, a).is_same(out));
  EXPECT_EQ(ints(out.sizes()), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(read(out), (Values{0, 2, 4, 6, 8, 10}));

  Tensor base = functionalize(zeros({2, 2, 3}));
  Tensor part = base.select(0, 1);
  add_out(part, a, functionalize(a));
  EXPECT_EQ(read(base), (Values{0, 0, 0, 0, 0, 0, 0, 2, 4, 6, 8, 10}));

  Tensor values_out = functionalize(empty({0}));
  Tensor indices_out = functionalize(empty({0}, kLong));
  sort_out(values_out, indices_out, functionalize(a), 1, true);
  EXPECT_EQ(read(values_out), (Values{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(read(indices_out), (Values{2, 1, 0, 2, 1, 0}));

  // An ordinary out= takes the elements.
  Tensor plain = empty({0});
  add_out(plain, functionalize(a), a);
  EXPECT_FALSE(is_functional(plain));
  EXPECT_EQ(values(plain), (Values{0, 2, 4, 6, 8, 10}));
}

TEST(Functionalize, WritesAreCheckedAsEver) {
  Tensor whole = functionalize(counting({3}, kInt));
  SY_EXPECT_ERROR(whole.add_(functionalize(counting({3}))), TypeError, "int32");
  SY_EXPECT_ERROR(whole.add_(counting({2, 3}, kInt)), ValueError, "");
  SY_EXPECT_ERROR(functionalize(counting({1})).expand({4}).add_(1), ValueError,
                  "");
  EXPECT_EQ(read(whole), (Values{0, 1, 2}));
}

TEST(Functionalize, CopiesConvertAndBroadcast) {
  expect_same(counting({2, 3}), [](Tensor t) {
    t.copy_(counting({3}, kLong) + 5);
    t.select(1, 0).copy_(t.select(1, 2));
    return std::vector<Tensor>{t};
  });
}

TEST(Functionalize, ArgumentsThatAreOneTensor) {
  expect_same(counting({4}), [](Tensor t) {
    t.sub_(t);
    t.add_(t.view({2, 2}).select(0, 0).sum() + 1);
    return std::vector<Tensor>{t};
  });
}

TEST(Functionalize, TensorsThatShareMemoryDoSoAfterwards) {
  const Tensor base = counting({6});
  const std::vector<Tensor> plain = {base, base.slice(0, 2, 5), Tensor(), base};
  std::vector<Tensor> f = functionalize(TensorList(plain));
  EXPECT_FALSE(f[2].defined());
  EXPECT_TRUE(f[3].is_same(f[0]));
  EXPECT_TRUE(f[1].is_alias_of(f[0]));
  f[1].fill_(9);
  EXPECT_EQ(read(f[0]), (Values{0, 1, 9, 9, 9, 5}));
  f[0].zero_();
  EXPECT_EQ(read(f[1]), (Values{0, 0, 0}));
  EXPECT_EQ(values(base), (Values{0, 1, 2, 3, 4, 5}));
}

TEST(Functionalize, ElementsBetweenThoseOfATensorAreKept) {
  const Tensor base = counting({6});
  Tensor f = functionalize(base.slice(0, 1, 6, 2));
  f.fill_(-1);
  EXPECT_EQ(ints(f.strides()), (std::vector<int64_t>{2}));
  EXPECT_EQ(read(f.as_strided({6}, {1}, 0)), (Values{0, -1, 2, -1, 4, -1}));
}

TEST(Functionalize, ListsAndUndefinedTensors) {
  Tensor a = functionalize(counting({2})), b = functionalize(counting({3}));
  Tensor both[] = {a, b};
  _foreach_add_(both, 1);
  EXPECT_EQ(read(a), (Values{1, 2}));
  EXPECT_EQ(read(b), (Values{1, 2, 3}));
  const Tensor at = functionalize(counting({1}, kLong));
  b.index_put_({at}, functionalize(full({1}, 8, kFloat)));
  EXPECT_EQ(read(b), (Values{8, 2, 3}));
  EXPECT_EQ(read(cat({a, b})), (Values{1, 2, 8, 2, 3}));
}

TEST(Functionalize, RunningStatisticsAreWritten) {
  const Tensor input = counting({4, 2});
  Tensor mean = zeros({2}), variance = ones({2});
  const Tensor f_mean = functionalize(mean.clone());
  const Tensor f_variance = functionalize(variance.clone());
  const auto run = [&](const Tensor& x, const Tensor& m, const Tensor& v) {
    return std::get<0>(native_batch_norm(x, {}, {}, m, v, true, 0.5, 1e-5));
  };
  const Tensor want = run(input, mean, variance);
  const Tensor got = run(functionalize(input), f_mean, f_variance);
  EXPECT_EQ(read(got), values(want));
  EXPECT_EQ(read(f_mean), values(mean));
  EXPECT_EQ(read(f_variance), values(variance));
  EXPECT_NE(values(mean), (Values{0, 0}));
}

TEST(Functionalize, TheSameRandomNumbers) {
  const auto draw = [](Tensor t) {
    const Generator g = make_generator(7);
    t.uniform_(0, 1, g);
    t.slice(0, 1, 3).normal_(0, 1, g);
    return t.bernoulli(0.5, g);
  };
  Tensor plain = zeros({5});
  const Tensor f = functionalize(zeros({5}));
  EXPECT_EQ(read(draw(f)), values(draw(plain)));
  EXPECT_EQ(read(f), values(plain));
}

TEST(Functionalize, VersionsAreShared) {
  Tensor f = functionalize(counting({4}));
  const Tensor v = f.slice(0, 0, 2);
  const uint32_t before = v._version();
  f.add_(1);
  EXPECT_GT(v._version(), before);
}

TEST(Functionalize, MemoryIsThereForWhoAsks) {
  Tensor f = functionalize(counting({4}));
  const Tensor v = f.slice(0, 1, 3);
  v.mul_(10);
  EXPECT_EQ(static_cast<const float*>(v.const_data_ptr<float>())[1], 20);
  f.add_(1);
  EXPECT_EQ(f.const_data_ptr<float>()[1], 11);
  EXPECT_EQ(f[3].item().to_double(), 4);
  // A write by a pointer counts as well.
  f.mutable_data_ptr<float>()[0] = -5;
  EXPECT_EQ(read(f), (Values{-5, 11, 21, 4}));
  f.add_(1);
  EXPECT_EQ(f.const_data_ptr<float>()[0], -4);
}

TEST(Functionalize, MemoryFormats) {
  expect_same(counting({1, 2, 2, 3}), [](const Tensor& t) {
    Tensor last = t.contiguous(MemoryFormat::ChannelsLast);
    last.add_(1);
    Tensor same = t.contiguous();
    same.add_(1);
    return std::vector<Tensor>{last, same, last.to(kDouble)};
  });
}

TEST(Functionalize, GuardMakesWritesOfOrdinaryTensorsPure) {
  Tensor t = counting({2, 2});
  Tensor row = t.select(0, 1);
  {
    const FunctionalizeGuard guard;
    row.add_(10);
    t.mul_(2);
    t.resize_({4});
  }
  EXPECT_FALSE(is_functional(t));
  EXPECT_EQ(values(t), (Values{0, 2, 24, 26}));
  EXPECT_EQ(values(row), (Values{24, 26}));
}

}  // namespace
}  // namespace sy
