#include <gtest/gtest.h>
#include <sy/compile.h>
#include <sy/sy.h>

// Callables on the device of a plugin, which has few kernels of its own and no
// fused regions.

namespace sy {

namespace {

Device device() {
  static const Device d = [] {
    load_library("test/conformance/libminimal_backend.so").keep();
    return Device("minimal");
  }();
  return d;
}

Tensor sample(IntArrayRef sizes, double first) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return ((arange(n, TensorOptions(kFloat)) * 0.37 + first).sin()).view(sizes);
}

void expect_same(const Tensor& got, const Tensor& want) {
  EXPECT_EQ(got.device().type(), device().type());
  EXPECT_TRUE(allclose(got.cpu(), want, 1e-5, 1e-6)) << got.cpu() << want;
}

TEST(CompiledOnADevice, ReplaysResultsAndWrites) {
  auto f = compile([](Tensor x, const Tensor& w) {
    const Tensor y = (x.matmul(w) * 2 + 1).tanh();
    x.mul_(0.5).add_(1);
    return y.sum(0);
  });
  for (int i = 0; i < 3; ++i) {
    const Tensor x = sample({4, 3}, i), w = sample({3, 2}, 1);
    const Tensor on = x.to(device());
    expect_same(f(on, w.to(device())), (x.matmul(w) * 2 + 1).tanh().sum(0));
    expect_same(on, x * 0.5 + 1);
  }
  EXPECT_EQ(f.counters().captures, 1) << f.explain();
}

TEST(CompiledOnADevice, Trains) {
  Tensor w = sample({3, 2}, 1).to(device()).requires_grad_();
  Tensor other = sample({3, 2}, 1).requires_grad_();
  const auto step = [](Tensor p, const Tensor& x) {
    const Tensor loss = (x.matmul(p) - 1).square().mean();
    loss.backward();
    const NoGradGuard no_grad;
    p.add_(p.grad(), -0.1);
    p.mutable_grad().reset();
    return loss.detach();
  };
  auto f = compile([&](const Tensor& x) { return step(w, x); });
  for (int i = 0; i < 4; ++i) {
    const Tensor x = sample({4, 3}, i);
    expect_same(f(x.to(device())), step(other, x));
    expect_same(w.detach(), other.detach());
  }
  EXPECT_EQ(f.counters().captures, 1) << f.explain();
}

}  // namespace

}  // namespace sy
