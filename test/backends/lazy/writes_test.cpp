#include "test/backends/lazy/on_lazy.h"

// Gradients of parts: sums of values that are zero elsewhere.

namespace sy {

namespace {

// The gradient of a sum of parts of x, each times another weight.
Tensor gradient(const Tensor& x, const std::vector<Tensor>& parts) {
  Tensor total;
  double weight = 1;
  for (const Tensor& p : parts) {
    const Tensor s = p.sin().sum() * (weight += 0.5);
    total = total.defined() ? total + s : s;
  }
  return autograd::grad({total}, {x})[0];
}

// Compares with the CPU, and returns how many calls of the plan were sums: the
// loss itself is not computed.
template <class F>
int sums_for(IntArrayRef sizes, F parts) {
  const Tensor cpu = sample(sizes).requires_grad_();
  const Tensor x = sample(sizes).to(lazy_device()).requires_grad_();
  const Tensor want = gradient(cpu, parts(cpu));
  const Tensor got = gradient(x, parts(x));
  expect_same(got, want);
  const std::string plan = lazy::plan_text();
  int sums = 0;
  for (size_t at = 0; (at = plan.find("aten::add.Tensor", at)) != plan.npos;
       ++at) {
    ++sums;
  }
  return sums;
}

TEST(LazyWrites, PartsOfAProjection) {
  EXPECT_EQ(sums_for({3, 4, 5},
                     [](const Tensor& x) {
                       return std::vector<Tensor>{x[0], x[1], x[2]};
                     }),
            0);
  EXPECT_EQ(sums_for({4, 6},
                     [](const Tensor& x) {
                       return std::vector<Tensor>{x.slice(1, 0, 2),
                                                  x.slice(1, 4, 6),
                                                  x.slice(1, 2, 4)};
                     }),
            0);
}

TEST(LazyWrites, PartsThatOverlapAreAdded) {
  EXPECT_EQ(
      sums_for({4, 6},
               [](const Tensor& x) {
                 return std::vector<Tensor>{x.slice(1, 0, 3), x.slice(1, 2, 6)};
               }),
      1);
  EXPECT_EQ(sums_for({4, 6},
                     [](const Tensor& x) {
                       return std::vector<Tensor>{x[1], x.select(1, 2)};
                     }),
            1);
}

// Every second row is no box: its sum stays.
TEST(LazyWrites, PartsWithStepsAreAdded) {
  EXPECT_EQ(sums_for({4, 6},
                     [](const Tensor& x) {
                       return std::vector<Tensor>{x.slice(0, 0, 4, 2),
                                                  x.slice(0, 1, 4, 2)};
                     }),
            1);
}

// A value that somebody else reads as well stays what it is.
TEST(LazyWrites, APartThatIsHeld) {
  const auto run = [](Device d) {
    const Tensor x = sample({4, 6}).to(d);
    Tensor a = zeros({4, 6}).to(d), b = zeros({4, 6}).to(d);
    a.slice(0, 0, 2).copy_(x.slice(0, 0, 2));
    b.slice(0, 2, 4).copy_(x.slice(0, 2, 4));
    const Tensor sum = a + b;
    return std::vector<Tensor>{sum * 2, a + 0, b};
  };
  const auto got = run(lazy_device()), want = run(Device(kCPU));
  for (size_t i = 0; i < want.size(); ++i) expect_same(got[i], want[i]);
}

}  // namespace

}  // namespace sy
