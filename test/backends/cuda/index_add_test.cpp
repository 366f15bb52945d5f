#include "test/backends/cuda/pairs.h"

namespace sy::cuda::testing {
namespace {

using Tensors = std::vector<Tensor>;

struct Slices {
  Pair x, at, source;
};
Slices slices(int64_t n, int64_t dim, ScalarType dtype) {
  std::vector<int64_t> sizes = {20, 20, 3}, own = sizes;
  own[static_cast<size_t>(dim)] = n;
  return {pair(numbers(sizes, dtype)), pair(indices({n}, dim == 2 ? 3 : 20)),
          pair(numbers(own, dtype, 2))};
}

TEST(IndexAdd, AddsSlicesInOrder) {
  for (const ScalarType dtype : all_dtypes()) {
    for (const int64_t n : {0, 3, 30, 300}) {
      for (int64_t dim = 0; dim < 3; ++dim) {
        const Slices s = slices(n, dim, dtype);
        EXPECT_TRUE(agrees(
            [&](const Tensors& t) { return t[0].index_add(dim, t[1], t[2]); },
            {s.x, s.at, s.source}))
            << dtype << n << " " << dim;
        if (dtype == kBool) continue;
        EXPECT_TRUE(agrees(
            [&](const Tensors& t) {
              return t[0].index_add(dim, t[1], t[2], 3);
            },
            {s.x, s.at, s.source}))
            << dtype << n << " " << dim;
      }
    }
  }
}

TEST(IndexAdd, SortsManyIndices) {
  for (const int64_t rows : {300, 70000}) {
    const Pair x = pair(numbers({rows, 2}, kFloat));
    const Pair at = pair(indices({9000}, rows, kInt));
    const Pair source = pair(numbers({9000, 2}, kFloat, 2));
    EXPECT_TRUE(
        agrees([](const Tensors& t) { return t[0].index_add(0, t[1], t[2]); },
               {x, at, source}))
        << rows;
  }
}

// More sources for a place than one thread joins. Whole numbers are the same in
// whatever order they are added; floats are added in the same order each time.
TEST(IndexAdd, SharesWhatGoesToOnePlace) {
  for (const int64_t n : {1025, 5000, 40000}) {
    for (const int64_t rows : {1, 2, 7}) {
      const Pair at = pair(indices({n}, rows));
      const auto add = [](const Tensors& t) {
        return t[0].index_add(0, t[1], t[2]);
      };
      EXPECT_TRUE(agrees(add, {pair(numbers({rows, 3}, kLong)), at,
                               pair(numbers({n, 3}, kLong, 2))}))
          << n << " " << rows;
      const Pair x = pair(numbers({rows, 3}, kFloat));
      const Pair source = pair(numbers({n, 3}, kFloat, 2));
      const Tensor once = add({x.cuda, at.cuda, source.cuda}).to(kCPU);
      const Tensor again = add({x.cuda, at.cuda, source.cuda}).to(kCPU);
      EXPECT_TRUE(equal(once, again)) << n << " " << rows;
      const Tensor exact =
          add({x.cpu.to(kDouble), at.cpu, source.cpu.to(kDouble)});
      EXPECT_TRUE(allclose(once.to(kDouble), exact, 1e-5, 1e-3))
          << n << " " << rows;
    }
  }
  for (const char* const how : {"mean", "amax", "sum"}) {
    EXPECT_TRUE(agrees(
        [&](const Tensors& t) {
          return scatter_reduce(t[0], 0, t[1], t[2], how, false);
        },
        {pair(numbers({3}, kShort)), pair(indices({7000}, 3)),
         pair(numbers({7000}, kShort, 2))}))
        << how;
  }
}

TEST(IndexCopy, LeavesTheLastOfSeveral) {
  for (const ScalarType dtype : {kByte, kHalf, kFloat, kDouble}) {
    for (const int64_t n : {1, 3, 30, 3000}) {
      for (int64_t dim = 0; dim < 3; ++dim) {
        const Slices s = slices(n, dim, dtype);
        EXPECT_TRUE(agrees(
            [&](const Tensors& t) { return t[0].index_copy(dim, t[1], t[2]); },
            {s.x, s.at, s.source}))
            << dtype << n << " " << dim;
      }
    }
  }
}

TEST(IndexFill, WritesANumber) {
  for (const ScalarType dtype : all_dtypes()) {
    const Pair x = pair(numbers({6, 5}, dtype));
    const Pair at = pair(indices({4}, 5, kLong, 3, -5));
    EXPECT_TRUE(agrees(
        [](const Tensors& t) { return t[0].index_fill(1, t[1], 1); }, {x, at}))
        << dtype;
    EXPECT_TRUE(agrees(
        [](const Tensors& t) {
          return t[0].index_fill(1, t[1], t[0].select(0, 2).select(0, 3));
        },
        {x, at}))
        << dtype;
  }
}

TEST(IndexReduce, JoinsSlices) {
  for (const char* const how : {"prod", "mean", "amax", "amin"}) {
    for (const bool self : {true, false}) {
      for (const ScalarType dtype : {kShort, kFloat, kHalf}) {
        EXPECT_TRUE(agrees(
            [&](const Tensors& t) {
              return index_reduce(t[0], 0, t[1], t[2], how, self);
            },
            {pair(numbers({6, 4}, dtype)), pair(indices({9}, 6)),
             pair(numbers({9, 4}, dtype, 2))}))
            << how << self << dtype;
      }
    }
  }
}

using Optional = std::optional<Tensor>;

TEST(IndexPut, WritesAndAddsAtEveryKindOfIndex) {
  const std::vector<std::vector<int>> lists = {
      {0}, {-1, 0}, {-1, -1, 1}, {0, 1}, {0, -1, 1}, {-1, 0, 1}, {0, 1, 2},
      {3}, {3, -1}, {2, 2},      {},     {-1},       {1, -1, 1}};
  const Pair a = pair(indices({4, 1}, 5, kLong, 1, -5));
  const Pair b = pair(indices({3}, 5, kInt, 2, -5));
  const Pair c = pair(indices({4, 3}, 5, kLong, 3));
  const Pair mask = pair(numbers({5}, kBool, 4));
  for (const ScalarType dtype : {kLong, kFloat, kHalf}) {
    for (const LaidOut layout : {LaidOut::kContiguous, LaidOut::kTransposed}) {
      for (const auto& list : lists) {
        for (const bool accumulate : {false, true}) {
          const Pair x = laid_out({5, 6, 7}, layout, dtype);
          const auto run = [&](const Tensors& t) {
            std::vector<Optional> at;
            for (const int w : list) {
              at.push_back(w < 0 ? Optional()
                                 : Optional(t[static_cast<size_t>(w) + 1]));
            }
            const Tensor shape = index(t[0], at);
            const Tensor values =
                numbers(shape.sizes(), dtype, 8).to(t[0].device());
            Tensor all = index_put(t[0], at, values, accumulate);
            // One value for all.
            const Tensor one = values.numel() > 0
                                   ? values.reshape({-1}).select(0, 0)
                                   : values.sum().to(dtype);
            return index_put(all, at, one, accumulate);
          };
          EXPECT_TRUE(agrees(run, {x, a, b, c, mask}))
              << dtype << name_of(layout) << accumulate
              << ::testing::PrintToString(list);
        }
      }
    }
  }
}

TEST(IndexPut, SortsManyIndices) {
  for (const bool accumulate : {false, true}) {
    EXPECT_TRUE(agrees(
        [&](const Tensors& t) {
          return index_put(t[0], {Optional(t[1]), Optional(t[2])}, t[3],
                           accumulate);
        },
        {pair(numbers({60, 70, 3}, kFloat)), pair(indices({5000}, 60)),
         pair(indices({5000}, 70, kLong, 5)),
         pair(numbers({5000, 3}, kFloat, 2))}))
        << accumulate;
  }
}

TEST(IndexPut, WritesWhereAMaskIsTrue) {
  EXPECT_TRUE(agrees(
      [](const Tensors& t) {
        return index_put(t[0], {Optional(t[1])}, t[2], false);
      },
      {pair(numbers({6, 5}, kFloat)), pair(numbers({6, 5}, kBool)),
       pair(numbers({1}, kFloat))}));
}

TEST(IndexPut, RefusesWhatTheCpuRefuses) {
  const Tensor x = numbers({4, 5}, kFloat).to(Device(kCUDA));
  const Tensor at = indices({3}, 4).to(Device(kCUDA));
  EXPECT_THROW(index_put(x, {Optional(at)},
                         numbers({3, 4}, kFloat).to(Device(kCUDA)), false),
               ValueError);
  const Tensor bad = full({3}, Scalar(9), at.options());
  for (const bool accumulate : {false, true}) {
    const std::string error = error_of([&] {
      index_put(x, {Optional(bad)}, numbers({5}, kFloat).to(Device(kCUDA)),
                accumulate);
    });
    EXPECT_NE(error.find("index_put"), std::string::npos) << error;
    EXPECT_NE(error.find("9"), std::string::npos) << error;
  }
}

TEST(Put, CountsInRowMajorOrder) {
  for (const bool accumulate : {false, true}) {
    for (const int64_t n : {0, 5, 100, 5000}) {
      for (const LaidOut layout : all_layouts()) {
        EXPECT_TRUE(agrees(
            [&](const Tensors& t) { return t[0].put(t[1], t[2], accumulate); },
            {laid_out({5, 6}, layout, kFloat),
             pair(indices({n}, 30, kLong, 3, -30)),
             pair(numbers({n}, kFloat, 2))}))
            << accumulate << n << name_of(layout);
      }
    }
  }
}

TEST(Embedding, AddsTheGradientsOfARow) {
  for (const bool by_frequency : {false, true}) {
    EXPECT_TRUE(agrees(
        [&](const Tensors& t) {
          return embedding_dense_backward(t[0], t[1], 10, 3, by_frequency);
        },
        {pair(numbers({50, 4, 6}, kFloat)), pair(indices({50, 4}, 10))}))
        << by_frequency;
  }
}

}  // namespace
}  // namespace sy::cuda::testing
