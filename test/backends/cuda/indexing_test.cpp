#include "test/backends/cuda/pairs.h"

namespace sy::cuda::testing {
namespace {

using Tensors = std::vector<Tensor>;

TEST(Gather, TakesAnElementOfEachSize) {
  for (const ScalarType dtype : all_dtypes()) {
    for (const LaidOut layout : all_layouts()) {
      const Pair x = laid_out({4, 5, 3}, layout, dtype);
      const Pair at = pair(indices({4, 7, 3}, 5));
      EXPECT_TRUE(agrees([](const Tensors& t) { return t[0].gather(1, t[1]); },
                         {x, at}))
          << dtype << " " << name_of(layout);
    }
  }
}

TEST(Gather, TakesIndicesOfEveryLayout) {
  const Pair x = pair(numbers({6, 5, 4}, kFloat));
  for (const ScalarType dtype : {kLong, kInt}) {
    for (const LaidOut layout : all_layouts()) {
      for (int64_t dim = 0; dim < 3; ++dim) {
        const Pair at = laid_out({4, 5, 4}, layout, [&](IntArrayRef s) {
          return indices(s, 4, dtype);
        });
        EXPECT_TRUE(agrees(
            [&](const Tensors& t) { return t[0].gather(dim, t[1]); }, {x, at}))
            << dtype << " " << name_of(layout) << " " << dim;
      }
    }
  }
}

TEST(Gather, TakesNoDimsAndNoElements) {
  const auto gather0 = [](const Tensors& t) { return t[0].gather(0, t[1]); };
  EXPECT_TRUE(
      agrees(gather0, {pair(numbers({}, kFloat)), pair(indices({}, 1))}));
  EXPECT_TRUE(
      agrees(gather0, {pair(numbers({}, kFloat)), pair(indices({3}, 1))}));
  EXPECT_TRUE(
      agrees(gather0, {pair(numbers({5}, kFloat)), pair(indices({0}, 5))}));
  EXPECT_TRUE(agrees(
      gather0, {pair(numbers({0, 3}, kFloat)), pair(indices({0, 3}, 5))}));
}

TEST(Gather, NamesAnIndexThatIsOutOfRange) {
  const Tensor x = numbers({4, 5}, kFloat).to(Device(kCUDA));
  const Tensor at =
      full({2, 2}, Scalar(5), TensorOptions(kLong)).to(Device(kCUDA));
  const std::string error = error_of([&] { x.gather(1, at); });
  EXPECT_NE(error.find("gather"), std::string::npos) << error;
  EXPECT_NE(error.find("5"), std::string::npos) << error;
  // The device goes on.
  EXPECT_EQ(error_of([&] { x.gather(1, at - 1); }), "");
}

TEST(IndexSelect, TakesSlicesOfEveryDim) {
  for (const ScalarType dtype : all_dtypes()) {
    for (const LaidOut layout : all_layouts()) {
      const Pair x = laid_out({5, 6, 8}, layout, dtype);
      for (int64_t dim = -3; dim < 3; ++dim) {
        const Pair at = pair(indices({9}, 5, dim % 2 == 0 ? kLong : kInt));
        EXPECT_TRUE(agrees(
            [&](const Tensors& t) { return t[0].index_select(dim, t[1]); },
            {x, at}))
            << dtype << " " << name_of(layout) << " " << dim;
      }
    }
  }
}

TEST(IndexSelect, TakesRowsOfEveryWidth) {
  for (const int64_t width : {1, 2, 3, 4, 8, 15, 16, 17, 64, 100}) {
    const Pair x = pair(numbers({20, width}, kByte));
    const Pair at = pair(indices({37}, 20));
    EXPECT_TRUE(agrees(
        [](const Tensors& t) { return t[0].index_select(0, t[1]); }, {x, at}))
        << width;
    // Memory that begins anywhere.
    EXPECT_TRUE(agrees(
        [](const Tensors& t) { return t[0].slice(1, 1).index_select(0, t[1]); },
        {x, at}))
        << width;
  }
}

TEST(IndexSelect, TakesANumberOfTheCpu) {
  const Pair x = pair(numbers({5, 3}, kFloat));
  const Tensor one = full({}, Scalar(2), TensorOptions(kLong));
  EXPECT_TRUE(same(x.cpu.index_select(0, one), x.cuda.index_select(0, one)));
  const Pair s = pair(numbers({}, kFloat));
  EXPECT_TRUE(
      agrees([](const Tensors& t) { return t[0].index_select(0, t[1]); },
             {s, pair(indices({1}, 1))}));
}

TEST(Embedding, TakesRows) {
  const Pair w = pair(numbers({10, 12}, kHalf));
  EXPECT_TRUE(agrees([](const Tensors& t) { return embedding(t[0], t[1]); },
                     {w, pair(indices({3, 4}, 10))}));
}

using Optional = std::optional<Tensor>;

TEST(Index, TakesEveryKindOfIndex) {
  const Pair x = laid_out({5, 6, 7}, LaidOut::kTransposed, kFloat);
  const Pair a = pair(indices({4, 1}, 5, kLong, 1, -5));
  const Pair b = pair(indices({3}, 5, kInt, 2, -5));
  const Pair c = pair(indices({4, 3}, 5, kLong, 3));
  const Pair mask = pair(numbers({5}, kBool, 4));
  const Pair mask2 = pair(numbers({6, 7}, kBool, 5));
  const auto run = [](std::vector<int> which) {
    return [which](const Tensors& t) {
      std::vector<Optional> list;
      for (const int w : which) {
        list.push_back(w < 0 ? Optional()
                             : Optional(t[static_cast<size_t>(w) + 1]));
      }
      return index(t[0], list);
    };
  };
  const std::vector<Pair> all = {x, a, b, c, mask, mask2};
  const std::vector<std::vector<int>> lists = {
      {0}, {-1, 0}, {-1, -1, 1}, {0, 1}, {0, -1, 1}, {-1, 0, 1}, {0, 1, 2},
      {3}, {-1, 4}, {3, -1},     {2, 2}, {},         {-1},       {1, -1, 1}};
  for (const auto& list : lists) {
    EXPECT_TRUE(agrees(run(list), all)) << ::testing::PrintToString(list);
  }
  // Five of them: more than a kernel takes at once.
  const Pair y = pair(numbers({3, 4, 5, 2, 3, 2}, kInt));
  std::vector<Pair> many = {y};
  for (const int64_t n : {3, 4, 5, 2, 3}) many.push_back(pair(indices({6}, n)));
  EXPECT_TRUE(agrees(run({0, 1, 2, 3, 4}), many));
  EXPECT_TRUE(agrees(run({-1, 1, 2, 3, 4}), many));
}

TEST(Index, TakesEveryDtype) {
  for (const ScalarType dtype : all_dtypes()) {
    EXPECT_TRUE(
        agrees([](const Tensors& t) { return index(t[0], {Optional(t[1])}); },
               {pair(numbers({6, 5}, dtype)), pair(indices({8}, 6))}))
        << dtype;
    EXPECT_TRUE(
        agrees([](const Tensors& t) { return index(t[0], {Optional(t[1])}); },
               {pair(numbers({6, 5}, dtype)), pair(numbers({6, 5}, kBool))}))
        << dtype;
  }
}

TEST(Index, NamesAnIndexThatIsOutOfRange) {
  const Tensor x = numbers({4, 5}, kFloat).to(Device(kCUDA));
  const Tensor at =
      full({2}, Scalar(-5), TensorOptions(kLong)).to(Device(kCUDA));
  const std::string error = error_of([&] { index(x, {Optional(at)}); });
  EXPECT_NE(error.find("index"), std::string::npos) << error;
  EXPECT_NE(error.find("-5"), std::string::npos) << error;
  EXPECT_THROW(index(x, {Optional(at), Optional(at), Optional(at)}),
               IndexError);
  EXPECT_THROW(index(x, {Optional(numbers({3}, kBool).to(Device(kCUDA)))}),
               IndexError);
}

TEST(Take, CountsInRowMajorOrder) {
  for (const LaidOut layout : all_layouts()) {
    const Pair x = laid_out({5, 6}, layout, kDouble);
    const Pair at = pair(indices({3, 7}, 30, kLong, 3, -30));
    EXPECT_TRUE(
        agrees([](const Tensors& t) { return t[0].take(t[1]); }, {x, at}))
        << name_of(layout);
  }
}

TEST(Masked, SelectsInRowMajorOrder) {
  for (const ScalarType dtype : all_dtypes()) {
    for (const LaidOut layout : all_layouts()) {
      const Pair x = laid_out({7, 6}, layout, dtype);
      const Pair mask = laid_out({7, 6}, layout, kBool, 5);
      const auto select = [](const Tensors& t) {
        return t[0].masked_select(t[1]);
      };
      EXPECT_TRUE(agrees(select, {x, mask})) << dtype << name_of(layout);
      EXPECT_TRUE(agrees(
          select,
          {x, view(mask, [](const Tensor& t) { return t.select(0, 1); })}))
          << dtype << name_of(layout);
    }
  }
}

TEST(Masked, TakesManyTiles) {
  const Pair x = pair(numbers({3, 5000}, kFloat));
  const Pair mask = pair(numbers({3, 5000}, kBool, 9));
  EXPECT_TRUE(agrees([](const Tensors& t) { return t[0].masked_select(t[1]); },
                     {x, mask}));
  const Pair source = pair(numbers({15000}, kFloat, 3));
  EXPECT_TRUE(
      agrees([](const Tensors& t) { return t[0].masked_scatter(t[1], t[2]); },
             {x, mask, source}));
}

TEST(Masked, ScattersInRowMajorOrder) {
  for (const ScalarType dtype : all_dtypes()) {
    for (const LaidOut layout : all_layouts()) {
      const Pair x = laid_out({7, 6}, layout, dtype);
      const Pair mask = pair(numbers({6}, kBool, 5));
      const Pair source = laid_out({7, 6}, layout, dtype, 6);
      EXPECT_TRUE(agrees(
          [](const Tensors& t) { return t[0].masked_scatter(t[1], t[2]); },
          {x, mask, source}))
          << dtype << name_of(layout);
      if (layout == LaidOut::kExpanded) continue;
      EXPECT_TRUE(agrees(
          [](const Tensors& t) {
            Tensor self = t[0];
            return self.masked_scatter_(t[1], t[2]);
          },
          {x, mask, source}))
          << dtype << name_of(layout);
    }
  }
  const Tensor x = numbers({4}, kFloat).to(Device(kCUDA));
  const Tensor mask = ones({4}, x.options().dtype(kBool));
  EXPECT_THROW(x.masked_scatter(mask, x.slice(0, 0, 3)), ValueError);
}

TEST(Nonzero, FindsThePlacesOfWhatIsNotZero) {
  for (const ScalarType dtype : all_dtypes()) {
    for (const LaidOut layout : all_layouts()) {
      const Pair x = laid_out({9, 4, 3}, layout, dtype);
      EXPECT_TRUE(agrees([](const Tensors& t) { return nonzero(t[0]); }, {x}))
          << dtype << name_of(layout);
    }
  }
  for (const auto& sizes :
       std::vector<std::vector<int64_t>>{{}, {0}, {3, 0}, {1}, {9000}}) {
    EXPECT_TRUE(agrees([](const Tensors& t) { return nonzero(t[0]); },
                       {pair(numbers(sizes, kFloat))}))
        << IntArrayRef(sizes);
  }
  // Minus zero is zero, NaN is not.
  const Tensor odd = tensor({0.0, -0.0, NAN, 1e-310, INFINITY});
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    EXPECT_TRUE(agrees([](const Tensors& t) { return nonzero(t[0]); },
                       {pair(odd.to(dtype))}))
        << dtype;
  }
}

TEST(Nonzero, OfAGivenNumber) {
  for (const int64_t size : {0, 2, 5, 100}) {
    EXPECT_TRUE(
        agrees([&](const Tensors& t) { return nonzero_static(t[0], size, -7); },
               {pair(numbers({5, 4}, kInt))}))
        << size;
  }
}

}  // namespace
}  // namespace sy::cuda::testing
