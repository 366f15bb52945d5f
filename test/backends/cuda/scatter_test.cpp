#include "test/backends/cuda/pairs.h"

namespace sy::cuda::testing {
namespace {

using Tensors = std::vector<Tensor>;

const std::vector<ScalarType> kFewDtypes = {kLong, kFloat, kHalf, kBool};

TEST(Scatter, WritesElementsOfEachSize) {
  for (const ScalarType dtype : all_dtypes()) {
    for (const LaidOut layout : all_layouts()) {
      const Pair x = pair(numbers({4, 6, 3}, dtype));
      const Pair src = laid_out({4, 5, 3}, layout, dtype, 2);
      const Pair at = pair(indices({4, 5, 2}, 6));
      EXPECT_TRUE(
          agrees([](const Tensors& t) { return t[0].scatter(1, t[1], t[2]); },
                 {x, at, src}))
          << dtype << name_of(layout);
    }
  }
}

// Numbers of sources for each way to scatter: few, many for each place, more
// than a block sorts.
const std::vector<std::vector<int64_t>> kIndexSizes = {
    {3, 1}, {3, 4}, {3, 40}, {3, 900}, {2, 3000}};

TEST(Scatter, LeavesTheLastOfSeveral) {
  for (const auto& sizes : kIndexSizes) {
    for (const ScalarType index : {kLong, kInt}) {
      const Pair x = pair(numbers({3, 50}, kFloat));
      const Pair at = pair(indices(sizes, 50, index));
      const Pair src = pair(numbers(sizes, kFloat, 2));
      EXPECT_TRUE(
          agrees([](const Tensors& t) { return t[0].scatter(1, t[1], t[2]); },
                 {x, at, src}))
          << IntArrayRef(sizes);
      EXPECT_TRUE(agrees(
          [](const Tensors& t) {
            return t[0].t().scatter(0, t[1].t(), t[2].t());
          },
          {x, at, src}))
          << IntArrayRef(sizes);
    }
  }
}

TEST(Scatter, AddsInTheOrderOfTheIndices) {
  for (const ScalarType dtype : kFewDtypes) {
    for (const auto& sizes : kIndexSizes) {
      const Pair x = pair(numbers({3, 50}, dtype));
      const Pair at = pair(indices(sizes, 50));
      const Pair src = pair(numbers(sizes, dtype, 2));
      EXPECT_TRUE(agrees(
          [](const Tensors& t) { return t[0].scatter_add(1, t[1], t[2]); },
          {x, at, src}))
          << dtype << IntArrayRef(sizes);
    }
  }
}

TEST(Scatter, TakesExpandedIndices) {
  for (const int64_t n : {4, 60, 5000}) {
    const Pair x = pair(numbers({30, 9}, kFloat));
    const Pair at = view(pair(indices({n}, 30)), [&](const Tensor& t) {
      return t.unsqueeze(1).expand({n, 9});
    });
    const Pair src = pair(numbers({n, 9}, kFloat, 2));
    EXPECT_TRUE(
        agrees([](const Tensors& t) { return t[0].scatter_add(0, t[1], t[2]); },
               {x, at, src}))
        << n;
    EXPECT_TRUE(
        agrees([](const Tensors& t) { return t[0].scatter(0, t[1], t[2]); },
               {x, at, src}))
        << n;
  }
}

TEST(Scatter, ReducesEveryWay) {
  for (const ScalarType dtype : {kShort, kHalf, kFloat, kBool}) {
    for (const char* const how : {"sum", "prod", "mean", "amax", "amin"}) {
      if (dtype == kBool && std::string_view(how) == "mean") continue;
      for (const bool self : {true, false}) {
        const Pair x = pair(numbers({3, 8}, dtype));
        const Pair at = pair(indices({3, 7}, 8));
        const Pair src = pair(numbers({3, 7}, dtype, 2));
        EXPECT_TRUE(agrees(
            [&](const Tensors& t) {
              return scatter_reduce(t[0], 1, t[1], t[2], how, self);
            },
            {x, at, src}))
            << dtype << how << self;
      }
    }
  }
}

TEST(Scatter, WritesAndJoinsAValue) {
  for (const ScalarType dtype : kFewDtypes) {
    for (const auto& sizes : kIndexSizes) {
      const Pair x = pair(numbers({3, 50}, dtype));
      const Pair at = pair(indices(sizes, 50));
      EXPECT_TRUE(agrees(
          [](const Tensors& t) { return t[0].scatter(1, t[1], 1); }, {x, at}))
          << dtype << IntArrayRef(sizes);
      for (const char* const how : {"add", "multiply"}) {
        EXPECT_TRUE(agrees(
            [&](const Tensors& t) { return t[0].scatter(1, t[1], 1, how); },
            {x, at}))
            << dtype << IntArrayRef(sizes) << how;
      }
    }
  }
  const Tensor x = numbers({4}, kByte).to(Device(kCUDA));
  const Tensor at = indices({2}, 4).to(Device(kCUDA));
  EXPECT_THROW(x.scatter(0, at, 300), ValueError);
}

TEST(Scatter, ReducesBySource) {
  for (const char* const how : {"add", "multiply"}) {
    EXPECT_TRUE(agrees(
        [&](const Tensors& t) { return t[0].scatter(0, t[1], t[2], how); },
        {pair(numbers({5, 4}, kFloat)), pair(indices({30, 3}, 5)),
         pair(numbers({30, 4}, kFloat, 2))}))
        << how;
  }
}

TEST(Scatter, WritesInPlaceToEveryLayout) {
  for (const LaidOut layout : all_layouts()) {
    if (layout == LaidOut::kExpanded) continue;
    Pair x = laid_out({6, 8}, layout, kFloat);
    const Pair at = pair(indices({6, 30}, 8));
    const Pair src = pair(numbers({6, 30}, kFloat, 2));
    x.cpu.scatter_add_(1, at.cpu, src.cpu);
    x.cuda.scatter_add_(1, at.cuda, src.cuda);
    EXPECT_TRUE(same(x.cpu, x.cuda)) << name_of(layout);
    x.cpu.scatter_(1, at.cpu, src.cpu);
    x.cuda.scatter_(1, at.cuda, src.cuda);
    EXPECT_TRUE(same(x.cpu, x.cuda)) << name_of(layout);
  }
}

TEST(Scatter, TakesNoDimsAndNoElements) {
  const auto add = [](const Tensors& t) {
    return t[0].scatter_add(0, t[1], t[2]);
  };
  EXPECT_TRUE(agrees(add, {pair(numbers({}, kFloat)), pair(indices({}, 1)),
                           pair(numbers({}, kFloat, 2))}));
  EXPECT_TRUE(agrees(add, {pair(numbers({4}, kFloat)), pair(indices({0}, 1)),
                           pair(numbers({3}, kFloat, 2))}));
}

TEST(Scatter, NamesAnIndexThatIsOutOfRange) {
  const Tensor x = numbers({3, 50}, kFloat).to(Device(kCUDA));
  for (const auto& sizes : kIndexSizes) {
    const Tensor src = numbers(sizes, kFloat, 2).to(Device(kCUDA));
    const Tensor at =
        full(sizes, Scalar(50), TensorOptions(kLong)).to(Device(kCUDA));
    std::string error = error_of([&] { x.scatter(1, at, src); });
    EXPECT_NE(error.find("scatter"), std::string::npos) << error;
    EXPECT_NE(error.find("50"), std::string::npos) << error;
    error = error_of([&] { x.scatter_add(1, at, src); });
    EXPECT_NE(error.find("scatter_add"), std::string::npos) << error;
    EXPECT_NE(error.find("50"), std::string::npos) << error;
  }
}

TEST(Scatter, RefusesWhatTheCpuRefuses) {
  const Tensor x = numbers({4, 5}, kFloat).to(Device(kCUDA));
  const Tensor at = indices({6, 2}, 4).to(Device(kCUDA));
  const Tensor src = numbers({6, 2}, kFloat).to(Device(kCUDA));
  EXPECT_THROW(x.scatter(1, at, src), ValueError);
  EXPECT_THROW(x.scatter(0, at, src.slice(0, 0, 3)), ValueError);
  EXPECT_THROW(scatter_reduce(x, 0, at, src, "most", true), ValueError);
}

}  // namespace
}  // namespace sy::cuda::testing
