#include "test/backends/cuda/pairs.h"

namespace sy::cuda::testing {
namespace {

using Tensors = std::vector<Tensor>;

TEST(Cat, RefusesTensorsOfOtherDevices) {
  const Pair a = pair(numbers({3, 4}, kFloat));
  EXPECT_THROW(cat({a.cuda, a.cpu}, 0), ValueError);
  EXPECT_THROW(cat({a.cpu, a.cuda}, 0), ValueError);
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

}  // namespace
}  // namespace sy::cuda::testing
