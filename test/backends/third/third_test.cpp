#include <gtest/gtest.h>
#include <sy/sy.h>

#include "aten/backend/cpu_fallback.h"
#include "aten/backend/engines.h"
#include "c10/dispatch/dispatcher.h"
#include "runtime/load_schema.h"
#include "test/backends/third/reduce.h"

namespace sy {
namespace {

Tensor on_third(const Tensor& t) { return t.to("third"); }

void expect_same(const Tensor& got, const Tensor& expected) {
  EXPECT_EQ(got.device().str(), "third:0");
  EXPECT_TRUE(equal(got.to(kCPU), expected));
}

int64_t fallbacks() {
  int64_t n = 0;
  for (const FallbackCount& c : fallback_counts()) n += c.calls;
  return n;
}

class Third : public ::testing::Test {
 protected:
  void SetUp() override { reset_fallback_counts(); }

  const Tensor a_ = arange(12, TensorOptions(kFloat)).view({3, 4}) - 5;
  const Tensor b_ = ones({4}, TensorOptions(kFloat)) * 2;
};

TEST_F(Third, RunsItsKernels) {
  const Tensor a = on_third(a_), b = on_third(b_);
  reset_fallback_counts();
  expect_same(a + b, a_ + b_);
  expect_same(a * b, a_ * b_);
  expect_same(relu(a), relu(a_));
  EXPECT_EQ(fallbacks(), 0);
}

// An out= form that is not listed is made from the kernel that is.
TEST_F(Third, DerivesTheOtherForms) {
  const Tensor a = on_third(a_), b = on_third(b_);
  Tensor out = empty_like(a);
  reset_fallback_counts();
  add_out(out, a, b);
  expect_same(out, a_ + b_);
  EXPECT_EQ(fallbacks(), 0);
}

TEST_F(Third, ItsEngineRunsEveryReduction) {
  const Tensor a = on_third(a_);
  reset_fallback_counts();
  const int before = third::reductions();
  expect_same(sum(a), sum(a_));
  expect_same(amax(a, {1}, true), amax(a_, {1}, true));
  EXPECT_EQ(third::reductions(), before + 2);
  EXPECT_EQ(fallbacks(), 0);
  EXPECT_NE(engines_of(Device("third").type())->reduce, nullptr);
  EXPECT_EQ(engines_of(Device("third").type())->pointwise, nullptr);
}

TEST_F(Third, TheRestRunsOnTheCpuAndIsCounted) {
  const Tensor a = on_third(a_);
  reset_fallback_counts();
  expect_same(std::get<0>(sort(a, 1, true)), std::get<0>(sort(a_, 1, true)));
  EXPECT_GT(fallbacks(), 0);
}

// Calls that its kernels do not take run on the CPU, too.
TEST_F(Third, OtherDtypesRunOnTheCpu) {
  const Tensor a = on_third(a_.to(kDouble));
  reset_fallback_counts();
  expect_same(relu(a), relu(a_.to(kDouble)));
  EXPECT_GT(fallbacks(), 0);
}

TEST_F(Third, HasGradients) {
  Tensor a = on_third(a_).requires_grad_(true);
  sum(relu(a) * a).backward();
  Tensor expected = a_.clone().requires_grad_(true);
  sum(relu(expected) * expected).backward();
  expect_same(a.grad(), expected.grad());
}

// An operator that is described while the program runs uses the engine.
TEST_F(Third, LoadedOperatorsUseItsEngine) {
  const auto library = load_schema_text(
      "- func: third_test::total(Tensor self) -> Tensor\n"
      "  reduce: {map: 2 * self, identity: 0, combine: a + b}\n",
      "third_test.yaml");
  const Tensor a = on_third(a_);
  const int before = third::reductions();
  reset_fallback_counts();
  Value args[] = {Value(TensorBase(a))};
  Value result;
  Dispatcher::singleton()
      .find_or_throw("third_test::total")
      .call_boxed(args, 1, &result, 1);
  expect_same(Tensor(std::as_const(result).to_tensor()), sum(a_) * 2);
  EXPECT_EQ(third::reductions(), before + 1);
  EXPECT_EQ(fallbacks(), 0);
}

}  // namespace
}  // namespace sy
