#include "test/backends/cuda/pairs.h"

namespace sy::cuda::testing {
namespace {

using Tensors = std::vector<Tensor>;

TEST(Cat, JoinsEveryLayoutAndDtype) {
  for (const ScalarType dtype : all_dtypes()) {
    for (const LaidOut layout : all_layouts()) {
      for (int64_t dim = -2; dim < 2; ++dim) {
        const bool rows = dim == 0 || dim == -2;
        const Pair a = laid_out({3, 4}, layout, dtype, 1);
        const Pair b = pair(numbers({rows ? 5 : 3, rows ? 4 : 7}, dtype, 2));
        EXPECT_TRUE(agrees(
            [&](const Tensors& t) {
              return cat({t[0], t[1], t[0]}, dim);
            },
            {a, b}))
            << dtype << name_of(layout) << dim;
      }
    }
  }
}

TEST(Cat, PromotesAndSkipsEmptyVectors) {
  EXPECT_TRUE(agrees(
      [](const Tensors& t) {
        return cat({t[2], t[0], t[1]}, 0);
      },
      {pair(numbers({2, 3}, kInt)), pair(numbers({1, 3}, kFloat)),
       pair(numbers({0}, kFloat))}));
  EXPECT_TRUE(agrees(
      [](const Tensors& t) {
        return cat({t[0], t[0]}, 0);
      },
      {pair(numbers({0}, kFloat))}));
}

TEST(Cat, JoinsManyTensors) {
  std::vector<Pair> all;
  for (int64_t i = 0; i < 150; ++i) {
    all.push_back(pair(numbers({3, i % 5, 8}, kFloat, 40)));
  }
  EXPECT_TRUE(agrees([](const Tensors& t) { return cat(t, 1); }, all));
}

TEST(Cat, WritesToAnOutput) {
  const Pair a = pair(numbers({3, 4}, kFloat));
  Tensor cpu = empty({0}, TensorOptions(kFloat));
  Tensor cuda = empty({0}, a.cuda.options());
  cat_out(cpu, {a.cpu, a.cpu}, 1);
  cat_out(cuda, {a.cuda, a.cuda}, 1);
  EXPECT_TRUE(same(cpu, cuda));
}

TEST(Cat, RefusesTensorsOfOtherDevices) {
  const Pair a = pair(numbers({3, 4}, kFloat));
  EXPECT_THROW(cat({a.cuda, a.cpu}, 0), ValueError);
  EXPECT_THROW(cat({a.cpu, a.cuda}, 0), ValueError);
}

TEST(Flip, TurnsEveryDim) {
  for (const ScalarType dtype : all_dtypes()) {
    for (const LaidOut layout : all_layouts()) {
      const Pair x = laid_out({4, 5, 6}, layout, dtype);
      for (const auto& dims : std::vector<std::vector<int64_t>>{
               {}, {0}, {1}, {2}, {0, 2}, {-1, 1}, {0, 1, 2}}) {
        EXPECT_TRUE(
            agrees([&](const Tensors& t) { return t[0].flip(dims); }, {x}))
            << dtype << name_of(layout) << IntArrayRef(dims);
      }
    }
  }
  EXPECT_TRUE(agrees([](const Tensors& t) { return t[0].flip({0}); },
                     {pair(numbers({0, 3}, kFloat))}));
  EXPECT_TRUE(agrees([](const Tensors& t) { return t[0].flip({-1}); },
                     {pair(numbers({}, kFloat))}));
}

TEST(Roll, MovesDims) {
  for (const LaidOut layout : all_layouts()) {
    const Pair x = laid_out({4, 5, 6}, layout, kFloat);
    const auto roll = [&](std::vector<int64_t> shifts,
                          std::vector<int64_t> dims) {
      EXPECT_TRUE(agrees(
          [&](const Tensors& t) { return t[0].roll(shifts, dims); }, {x}))
          << name_of(layout) << IntArrayRef(shifts) << IntArrayRef(dims);
    };
    roll({7}, {});
    roll({-1}, {});
    roll({0}, {1});
    roll({2}, {0});
    roll({-13}, {-1});
    roll({1, 2, 3}, {0, 1, 2});
    roll({1, 2}, {1, 1});
  }
  EXPECT_TRUE(agrees([](const Tensors& t) { return t[0].roll({2}, {1}); },
                     {pair(numbers({3, 0}, kFloat))}));
  EXPECT_TRUE(agrees([](const Tensors& t) { return t[0].roll({2}, {}); },
                     {pair(numbers({}, kFloat))}));
}

TEST(Triangle, KeepsOneSideOfADiagonal) {
  for (const ScalarType dtype : all_dtypes()) {
    for (const LaidOut layout : all_layouts()) {
      const Pair x = laid_out({2, 5, 7}, layout, dtype);
      for (const int64_t d : {int64_t{0}, int64_t{2}, int64_t{-3}, int64_t{100},
                              INT64_MIN, INT64_MAX}) {
        EXPECT_TRUE(agrees([&](const Tensors& t) { return t[0].tril(d); }, {x}))
            << dtype << name_of(layout) << d;
        EXPECT_TRUE(agrees([&](const Tensors& t) { return t[0].triu(d); }, {x}))
            << dtype << name_of(layout) << d;
      }
      if (layout == LaidOut::kExpanded) continue;
      EXPECT_TRUE(agrees(
          [](const Tensors& t) { return Tensor(t[0]).tril_(1).triu_(-1); },
          {x}))
          << dtype << name_of(layout);
    }
  }
  EXPECT_TRUE(agrees([](const Tensors& t) { return t[0].tril(); },
                     {pair(numbers({0, 3}, kFloat))}));
}

}  // namespace
}  // namespace sy::cuda::testing
