#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "aten/operators.h"
#include "aten/ops/all.h"
#include "autograd/api.h"
#include "autograd/meta.h"
#include "autograd/saved_tensor.h"
#include "c10/memory/allocator.h"

// Nodes keep for their gradients the least that the formulas read: results
// where they serve, nothing where sizes do.

namespace sy {
namespace {

using autograd::saved_tensors;
using Names = std::vector<std::string>;

Names kept(const Tensor& y) {
  const auto node = autograd::grad_fn(*y.impl());
  EXPECT_TRUE(node);
  Names names;
  if (!node) return names;
  for (const auto& s : saved_tensors(*node)) names.push_back(s.name);
  return names;
}

struct Case {
  const char* name;
  std::function<Tensor(const Tensor&)> f;  // of 2x2
  Names names;
};

TEST(Saved, AsFewAsCanBe) {
  const Tensor w = ones({2, 2}, kDouble);  // needs no gradient
  const std::vector<Case> cases = {
      {"add", [&](const Tensor& x) { return x + w; }, {}},
      {"sub", [&](const Tensor& x) { return w - x; }, {}},
      {"neg", [](const Tensor& x) { return -x; }, {}},
      {"mul by a number", [](const Tensor& x) { return x * 3; }, {}},
      {"mul by a constant", [&](const Tensor& x) { return x * w; }, {"other"}},
      {"mul", [](const Tensor& x) { return x * x; }, {"self", "other"}},
      {"div by a constant", [&](const Tensor& x) { return x / w; }, {"other"}},
      {"exp", [](const Tensor& x) { return x.exp(); }, {"result"}},
      {"tanh", [](const Tensor& x) { return x.tanh(); }, {"result"}},
      {"sigmoid", [](const Tensor& x) { return x.sigmoid(); }, {"result"}},
      {"sqrt", [](const Tensor& x) { return x.sqrt(); }, {"result"}},
      {"relu", [](const Tensor& x) { return x.relu(); }, {"result"}},
      {"softmax", [](const Tensor& x) { return x.softmax(1); }, {"result"}},
      {"log", [](const Tensor& x) { return x.log(); }, {"self"}},
      {"sum", [](const Tensor& x) { return x.sum(); }, {}},
      {"mean", [](const Tensor& x) { return x.mean(1); }, {}},
      {"reshape", [](const Tensor& x) { return x.reshape({4}); }, {}},
      {"expand",
       [](const Tensor& x) {
         return x.expand({3, 2, 2});
       },
       {}},
      {"select", [](const Tensor& x) { return x.select(0, 1); }, {}},
      {"to", [](const Tensor& x) { return x.to(kFloat); }, {}},
      {"cat",
       [&](const Tensor& x) {
         return cat({x, w});
       },
       {}},
      {"layer_norm",
       [&](const Tensor& x) { return layer_norm(x, {2}, w[0], w[1]); },
       {"input", "weight", "result1", "result2"}},
      {"mm from the left", [&](const Tensor& x) { return mm(x, w); }, {"mat2"}},
      {"mm from the right",
       [&](const Tensor& x) { return mm(w, x); },
       {"self"}},
  };
  for (const Case& c : cases) {
    const Tensor x = ones({2, 2}, kDouble).requires_grad_();
    EXPECT_EQ(kept(c.f(x)), c.names) << c.name;
  }
}

TEST(Saved, AWeightMayBeWrittenIfOnlyItsOwnGradientIsWanted) {
  const Tensor x = arange(6, kDouble).reshape({2, 3});
  Tensor w = ones({4, 3}, kDouble).requires_grad_();
  const Tensor y = linear(x, w);
  {
    const NoGradGuard guard;
    w.mul_(2);
  }
  y.sum().backward();
  EXPECT_TRUE(w.grad().equal(x.sum(0).expand({4, 3})));
}

// No copy is made of a gradient that is laid out as its weight.
TEST(Saved, GradientsOfWeightsAreStolen) {
  const Tensor x = randn({5, 3});
  const Tensor b = zeros({4}).requires_grad_();
  for (const bool transposed : {true, false}) {
    const Tensor w =
        (transposed ? randn({4, 3}) : randn({3, 4})).requires_grad_();
    const Tensor y = transposed ? addmm(b, x, w.t()) : addmm(b, x, w);
    const Tensor g = randn({5, 4});
    int copies = 0;
    {
      const int64_t before = memory_stats().allocated;
      y.backward(g);
      copies = static_cast<int>(memory_stats().allocated - before) /
               static_cast<int>(w.nbytes());
    }
    EXPECT_TRUE(w.grad().is_contiguous());
    EXPECT_EQ(w.grad().storage().use_count(), 1u);
    EXPECT_LE(copies, 2);
    const Tensor expected = transposed ? mm(g.t(), x) : mm(x.t(), g);
    EXPECT_TRUE(w.grad().allclose(expected));
    b.mutable_grad().reset();
  }
}

}  // namespace
}  // namespace sy
