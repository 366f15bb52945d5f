#include <string>

#include "test/backends/lazy/on_lazy.h"

// Values that are cheaper to compute than to store have no memory: constants,
// and results that are much larger than what they are made of.

namespace sy {
namespace {

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1)) {
    ++n;
  }
  return n;
}
int64_t peak_of(const std::function<void()>& f) {
  lazy::sync(lazy::kWait);
  reset_peak_memory_stats();
  const auto before = static_cast<int64_t>(memory_stats().allocated);
  f();
  return static_cast<int64_t>(memory_stats().peak) - before;
}

TEST(Fold, CallsOfConstantsAreConstants) {
  const auto program = [](const TensorOptions& o) {
    const Tensor half = full({2, 3}, 3, o) / 6;
    return (half + ones({3}, o)).sqrt().mul_(2);
  };
  const Tensor y = program(on_lazy());
  const std::string text = lazy::graph_text();
  EXPECT_EQ(count(text, " = aten::fill_.Scalar("), 1) << text;
  EXPECT_EQ(count(text, " = "), 1) << text;
  expect_same(y, program(TensorOptions(kFloat)));
}

// A number is rounded where the tensor would have been.
TEST(Fold, KeepsTheDtypesOfTheCalls) {
  for (const ScalarType t : {kHalf, kBFloat16, kDouble, kInt, kByte}) {
    const auto program = [t](const TensorOptions& o) {
      const Tensor x = full({4}, 0.1, o.dtype(t)) + full({4}, 7, o.dtype(t));
      return std::vector{x * 3, x * full({}, 2.5, o.dtype(kDouble)),
                         x + ones({1}, o.dtype(kFloat)), x.square() - x};
    };
    const std::vector<Tensor> got = program(on_lazy());
    const std::vector<Tensor> want = program(TensorOptions(kFloat));
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_EQ(got[i].scalar_type(), want[i].scalar_type()) << t << i;
      EXPECT_TRUE(equal(got[i].to(kCPU), want[i])) << t << i;
    }
  }
}

TEST(Fold, ACallThatFailsNamesItself) {
  const Tensor one = full({2}, 1, on_lazy(kInt)),
               zero = zeros({2}, on_lazy(kInt));
  try {
    floor_divide(one, zero).to(kCPU);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("floor_divide"), std::string::npos)
        << e.what();
  }
}

// Products lie between the regions, so each has the constant for itself.
Tensor reads_twice(const Tensor& x, const Tensor& wide) {
  const Tensor first = mm((x + wide).tanh(), x);
  return mm((first * wide).sin(), x) - wide;
}

TEST(Recompute, EachRegionHasItsOwnConstant) {
  const Tensor x = sample({256, 256}), l = x.to(lazy_device());
  Tensor y;
  const int64_t constant = peak_of([&] {
    y = reads_twice(l, full({256, 256}, 0.3, on_lazy()));
    lazy::sync({y}, lazy::kWait);
  });
  const std::string plan = lazy::plan_text();
  EXPECT_EQ(count(plan, "aten::fill_"), 3) << plan;
  expect_same(y, reads_twice(x, full({256, 256}, 0.3)));
  const Tensor stored = sample({256, 256}).to(lazy_device());
  y.reset();
  const int64_t data = peak_of([&] {
    y = reads_twice(l, stored);
    lazy::sync({y}, lazy::kWait);
  });
  // The constant takes no memory but for an element or two.
  EXPECT_LT(constant, data + 64) << "the constant has no memory";
}

TEST(Recompute, AMaskOfARowAndAColumnIsNotStored) {
  const auto program = [](const Tensor& x) {
    const Tensor i = arange(256, TensorOptions(kFloat).device(x.device()));
    return reads_twice(x, i.unsqueeze(1) - i);
  };
  const Tensor x = sample({256, 256}) * 0.01, l = x.to(lazy_device());
  const Tensor y = program(l);
  lazy::sync({y}, lazy::kWait);
  const std::string plan = lazy::plan_text();
  EXPECT_EQ(count(plan, "region of 3"), 2) << plan;
  EXPECT_EQ(count(plan, "region of 2"), 1) << plan;
  expect_same(y, program(x));
}

// A value that somebody holds is stored, and computed again beside it.
TEST(Recompute, AHeldValueIsStored) {
  const Tensor x = sample({64, 64}), l = x.to(lazy_device());
  const Tensor wide = full({64, 64}, 0.3, on_lazy());
  const Tensor y = reads_twice(l, wide);
  lazy::sync({y, wide}, lazy::kWait);
  expect_same(wide, full({64, 64}, 0.3));
  expect_same(y, reads_twice(x, full({64, 64}, 0.3)));
}

// A transposed reader needs other elements at the same place.
TEST(Recompute, ReadersInAnotherOrderAgree) {
  const auto program = [](const Tensor& x) {
    const Tensor i = arange(32, TensorOptions(kFloat).device(x.device()));
    const Tensor wide = i.unsqueeze(1) - i * 2;
    const Tensor first = mm(x + wide, x).tanh();
    return first * wide + wide.t();
  };
  const Tensor x = sample({32, 32});
  expect_same(program(x.to(lazy_device())), program(x));
}

// A run that ends between two regions which compute the same value leaves both
// to be run again.
TEST(Recompute, SurvivesARunThatFails) {
  const Tensor x = sample({512, 512}) * 0.01, l = x.to(lazy_device());
  const auto program = [](const Tensor& t) {
    const Tensor wide =
        full({512, 512}, 0.3, TensorOptions(kFloat).device(t.device()));
    const Tensor first = mm((t + wide).tanh(), t);
    const Tensor large = cumsum((first * wide).expand({64, 512, 512}), 0);
    return (large + wide).sum({0});
  };
  const Tensor y = program(l);
  set_memory_limit(memory_stats().allocated + (8 << 20));
  EXPECT_THROW(lazy::sync({y}, lazy::kWait), OutOfMemoryError);
  set_memory_limit(0);
  EXPECT_TRUE(allclose(y.to(kCPU), program(x), 1e-3, 1e-3));
}

}  // namespace
}  // namespace sy
