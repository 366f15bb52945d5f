#include <gtest/gtest.h>

#include <sstream>
#include <tuple>
#include <vector>

#include "aten/ops/comparison.h"
#include "aten/ops/factory.h"
#include "aten/ops/shape.h"
#include "aten/tensor_indexing.h"
#include "aten/tensor_new.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

// Expressions on tensors in programs written for libtorch: x[i] = 1,
// x.to("npu"), std::cout << x.sizes(), cat({a, b}).

namespace sy {
namespace {

TEST(Assignment, ToACallWritesWhatTheCallReturns) {
  const Tensor x = zeros({2, 3});
  x[0] = 1;
  x[1] = tensor({2.0, 3.0, 4.0});
  EXPECT_EQ(values<float>(x), (std::vector<float>{1, 1, 1, 2, 3, 4}));
  x[0][2] = 2.5;
  x.select(1, 1) = x.select(1, 2);
  EXPECT_EQ(values<float>(x), (std::vector<float>{1, 2.5, 2.5, 2, 4, 4}));
  x.index({1, indexing::Slice(0, 2)}) = 0;
  EXPECT_EQ(values<float>(x), (std::vector<float>{1, 2.5, 2.5, 0, 0, 4}));
  SY_EXPECT_ERROR(x[0] = zeros({2}), ValueError, "[copy_]");
  SY_EXPECT_ERROR(x[2] = 1, IndexError, "");
}

TEST(Assignment, ToAMaskOrIndicesWritesTheTensor) {
  const Tensor x = tensor({1.0, -2.0, 3.0, -4.0});
  x[x.lt(0)] = 0;
  EXPECT_EQ(values<float>(x), (std::vector<float>{1, 0, 3, 0}));
  x[tensor({1, 3})] = tensor({7.0, 8.0});
  EXPECT_EQ(values<float>(x), (std::vector<float>{1, 7, 3, 8}));
  // A variable of it is a copy, as any other tensor.
  auto kept = x[x.gt(5)];
  kept = kept.add(1);
  kept.fill_(9);
  EXPECT_EQ(values<float>(x), (std::vector<float>{1, 7, 3, 8}));
}

TEST(Assignment, ToAVariableTakesTheOther) {
  const Tensor a = zeros({2}), b = ones({3});
  Tensor x = a, y;
  x = b;
  EXPECT_TRUE(x.is_same(b));
  EXPECT_EQ(values<float>(a), (std::vector<float>{0, 0}));
  std::tie(x, y) = std::make_tuple(a, b);
  EXPECT_TRUE(x.is_same(a) && y.is_same(b));
  std::swap(x, y);
  EXPECT_TRUE(x.is_same(b) && y.is_same(a));
  x = x[0];
  EXPECT_EQ(x.dim(), 0);
  std::vector<Tensor> list(2);
  list[0] = b;
  EXPECT_TRUE(list[0].is_same(b));
  x = {};
  EXPECT_FALSE(x.defined());
}

TEST(Texts, AreDevices) {
  const Tensor x = ones({2});
  EXPECT_EQ(x.to("meta").device(), Device(kMeta));
  EXPECT_TRUE(x.to("cpu").is_same(x));
  EXPECT_TRUE(empty({2}, "meta").is_meta());
  EXPECT_EQ(empty({2}, dtype(kInt).device("meta")).dtype(), kInt);
  SY_EXPECT_ERROR(x.to("cuda"), NotImplementedError,
                  "no library of this backend is loaded");
  SY_EXPECT_ERROR(empty({2}, "cuda:1"), NotImplementedError,
                  "no library of this backend is loaded");
  SY_EXPECT_ERROR(x.to("cudda"), ValueError, "did you mean 'cuda'?");
}

TEST(Texts, OfSizesDtypesAndDevices) {
  std::ostringstream out;
  const Tensor x = ones({2, 3});
  out << x.sizes() << ' ' << x.dtype() << ' ' << x.device() << ' ' << kCUDA
      << ' ' << Device(kCUDA, 1) << ' ' << IntArrayRef();
  EXPECT_EQ(out.str(), "[2, 3] float32 cpu cuda cuda:1 []");
}

TEST(Lists, AreMadeOfBraces) {
  const Tensor a = ones({2}), b = zeros({1});
  EXPECT_EQ(values<float>(cat({a, b})), (std::vector<float>{1, 1, 0}));
  EXPECT_EQ(cat({a}).numel(), 2);
  EXPECT_EQ(stack({a, a, a}, 1).sizes(), IntArrayRef({2, 3}));
}

}  // namespace
}  // namespace sy
