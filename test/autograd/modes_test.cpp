#include <gtest/gtest.h>

#include <errno.h>

#include <cmath>
#include <thread>

#include "autograd/anomaly.h"
#include "autograd/api.h"
#include "autograd/function.h"
#include "autograd/nested.h"
#include "c10/dispatch/thread_state.h"
#include "test/autograd/sample_ops.h"
#include "test/c10/expect_error.h"

// Inference mode and anomaly mode.

namespace sy::sample {
namespace {

using namespace sy::autograd;  // NOLINT
using sy::autograd::Node;
using V = std::vector<double>;

TEST(InferenceMode, RecordsNothing) {
  const Tensor w = numbers({2});
  const int64_t before = Node::live_count();
  Tensor y;
  {
    const InferenceMode guard;
    EXPECT_TRUE(InferenceMode::is_enabled());
    EXPECT_FALSE(GradMode::is_enabled());
    y = exp(mul(w, w));
    EXPECT_FALSE(y.requires_grad());
    EXPECT_TRUE(y.is_inference());
    EXPECT_TRUE(view(y, {2}).is_inference());
    EXPECT_FALSE(w.is_inference());
  }
  EXPECT_FALSE(InferenceMode::is_enabled());
  EXPECT_TRUE(GradMode::is_enabled());
  EXPECT_EQ(Node::live_count(), before);
  EXPECT_TRUE(view(y, {2}).is_inference()) << "a view outside";
  EXPECT_FALSE(clone(y).is_inference());
  EXPECT_FALSE(exp(y).is_inference());
}

TEST(InferenceMode, MayBeLeftWithin) {
  const Tensor w = numbers({2});
  const InferenceMode guard;
  {
    const InferenceMode off(false);
    const Tensor y = mul(w, w);
    EXPECT_TRUE(y.requires_grad());
    EXPECT_FALSE(y.is_inference());
    sum(y).backward();
  }
  EXPECT_TRUE(InferenceMode::is_enabled());
  EXPECT_FALSE(mul(w, w).requires_grad());
}

TEST(InferenceMode, BackwardWithinGivesNormalGradients) {
  const Tensor w = numbers({2});
  const Tensor y = sum(mul(w, w));
  const InferenceMode guard;
  y.backward({}, true);
  EXPECT_FALSE(w.grad().is_inference());
  const Tensor g = grad(y, w, {}, {}, /*create_graph=*/true)[0];
  EXPECT_TRUE(g.requires_grad());
  w.backward(tensor({1, 1}, {2}));
}

TEST(InferenceMode, IsEachThreadsOwn) {
  const InferenceMode guard;
  std::thread([] {
    EXPECT_FALSE(InferenceMode::is_enabled());
    EXPECT_FALSE(numbers({1}).is_inference());
  }).join();
}

TEST(InferenceTensors, CannotBeSavedForBackward) {
  const Tensor w = numbers({2});
  const Tensor x = [] {
    const InferenceMode guard;
    return numbers({2}, false);
  }();
  SY_EXPECT_ERROR(mul(w, x), ValueError,
                  "[sample::mul.Tensor] an inference tensor cannot be saved "
                  "for backward: clone it outside of inference mode, got "
                  "float64[2]");
  const Tensor y = add(w, x);  // saves nothing
  sum(y).backward();
  EXPECT_EQ(values(w.grad()), V({1, 1}));
  mul(w, clone(x));
  mul(numbers({2}, false), x);
}

TEST(InferenceTensors, TakeNoPartInGradients) {
  Tensor x = [] {
    const InferenceMode guard;
    return numbers({2}, false);
  }();
  SY_EXPECT_ERROR(x.requires_grad_(), ValueError, "outside of inference mode");
  SY_EXPECT_ERROR(x._version(), Error, "got an inference tensor");
  SY_EXPECT_ERROR(mul_(x, numbers({2})), ValueError,
                  "[sample::mul_.Tensor] self: expected a tensor that may be "
                  "written in place while gradients are recorded, got an "
                  "inference tensor");
}

TEST(InferenceTensors, AreWrittenInTheModeOnly) {
  const Tensor two = tensor({2}, {});
  Tensor x, v;
  {
    const InferenceMode guard;
    x = numbers({2}, false);
    v = view(x, {2});
    mul_(x, two);
  }
  const V before = values(x);
  SY_EXPECT_ERROR(mul_(x, two), ValueError,
                  "[sample::mul_.Tensor] expected to write a tensor that was "
                  "made outside of inference mode, got an inference tensor, "
                  "float64[2]");
  SY_EXPECT_ERROR(mul_(v, two), ValueError, "got an inference tensor");
  SY_EXPECT_ERROR(ops::mul_out::call(two, two, x), ValueError,
                  "[sample::mul.out]");
  {
    const NoGradGuard guard;
    SY_EXPECT_ERROR(mul_(x, two), ValueError, "got an inference tensor");
    const InferenceMode on;
    const InferenceMode off(false);
    SY_EXPECT_ERROR(mul_(x, two), ValueError, "got an inference tensor");
  }
  std::thread([&] {
    SY_EXPECT_ERROR(mul_(x, two), ValueError, "got an inference tensor");
  }).join();
  EXPECT_EQ(values(x), before);
  Tensor copy = clone(x);
  mul_(copy, two);
  const InferenceMode guard;
  mul_(v, two);
  EXPECT_EQ(values(x), V({before[0] * 2, before[1] * 2}));
}

TEST(InferenceTensors, WritesToNormalOnesCount) {
  const Tensor w = numbers({2});
  Tensor m = mul(w, w);
  const Tensor y = sum(mul(m, m));
  {
    const InferenceMode guard;
    mul_(m, tensor({2}, {}));
  }
  SY_EXPECT_ERROR(y.backward(), Error, "overwritten by sample::mul_.Tensor");
}

TEST(InferenceTensors, ViewsOfNormalOnes) {
  const Tensor w = numbers({2, 2});
  Tensor base = mul(w, w);
  Tensor v = [&] {
    const InferenceMode guard;
    return view(base, {4});
  }();
  EXPECT_FALSE(v.is_inference());
  EXPECT_FALSE(v.requires_grad());
  EXPECT_FALSE(mul(v, v).requires_grad());
  SY_EXPECT_ERROR(mul_(v, tensor({2}, {})), ValueError,
                  "got a view that was made in inference mode");
}

TEST(InferenceTensors, FunctionsInTheMode) {
  struct Twice : Function<Twice> {
    static Tensor forward(AutogradContext* ctx, const Tensor& x) {
      ctx->save_for_backward({x});
      return add(x, x);
    }
    static variable_list backward(AutogradContext*, variable_list g) {
      return {add(g[0], g[0])};
    }
  };
  const Tensor w = numbers({2});
  const InferenceMode guard;
  EXPECT_FALSE(Twice::apply(w).requires_grad());
}

// d exp(x) that is NaN.
struct Broken : Function<Broken> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return exp(x); }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {mul(grads[0], tensor({std::nan("")}, {}))};
  }
};

std::string message_of(const Tensor& y, bool create_graph = false) {
  try {
    y.backward({}, true, create_graph);
  } catch (const Error& e) {
    return e.message();
  }
  return "";
}

TEST(Anomaly, FindsTheNodeThatMakesNan) {
  const Tensor x = numbers({2});
  const auto y = [&] { return sum(mul(Broken::apply(exp(x)), x)); };
  EXPECT_EQ(message_of(y()), "");
  {
    const DetectAnomalyGuard guard;
    EXPECT_TRUE(AnomalyMode::is_enabled());
    const std::string message = message_of(y());
    EXPECT_NE(message.find("Broken backward] gradient 0 of "),
              std::string::npos)
        << message;
    EXPECT_NE(message.find("has NaN among its elements: float64[2]"),
              std::string::npos)
        << message;
    const DetectAnomalyGuard nested(/*check_nan=*/false);
    EXPECT_EQ(message_of(y()), "");
  }
  EXPECT_FALSE(AnomalyMode::is_enabled());
}

TEST(Anomaly, ErrorsShowWhereTheOperationWasRecorded) {
  const Tensor x = numbers({2});
  Tensor y = ops::round::call(x);  // has no derivative
  std::string message = message_of(sum(y));
  EXPECT_NE(message.find("in the gradient of sample::round\n"),
            std::string::npos);
  const DetectAnomalyGuard guard;
  y = ops::round::call(x);
  message = message_of(sum(y));
  EXPECT_NE(message.find("in the gradient of sample::round, recorded\n  at "),
            std::string::npos)
      << message;
  // The calls are named by file and offset.
  EXPECT_NE(message.find(program_invocation_short_name), std::string::npos)
      << message;
}

TEST(Anomaly, ErrorsOfSecondDerivativesShowWhoseTheyAre) {
  struct NoSecond : Function<NoSecond> {
    static Tensor forward(AutogradContext*, const Tensor& x) { return exp(x); }
    static variable_list backward(AutogradContext*, variable_list grads) {
      return {ops::round::call(grads[0])};
    }
  };
  const DetectAnomalyGuard guard;
  const Tensor x = numbers({2});
  const Tensor g = grad(sum(mul(NoSecond::apply(x), x)), x, {}, {},
                        /*create_graph=*/true)[0];
  const std::string message = message_of(sum(g));
  EXPECT_NE(message.find("in the gradient of sample::round, recorded"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("as a part of the gradient of "), std::string::npos)
      << message;
  EXPECT_NE(message.find("NoSecond, recorded\n  at "), std::string::npos)
      << message;
}

// A thread that stands in for another has all that the other's calls are made
// under.
TEST(Modes, GoToTheThreadThatStandsInForThisOne) {
  ThreadModes& mine = thread_state;
  const ThreadModes before = mine;
  mine.autocast_devices = 5;
  mine.autocast_dtypes[2] = 1 + static_cast<uint8_t>(kBFloat16);
  mine.inference = true;
  ThreadModes seen;
  on_another_stack([&] { seen = thread_state; });
  mine = before;
  EXPECT_EQ(seen.autocast_devices, 5u);
  EXPECT_EQ(seen.autocast_dtypes[2], 1 + static_cast<int>(kBFloat16));
  EXPECT_TRUE(seen.inference);
}

TEST(Anomaly, LeavesNothingBehind) {
  const int64_t before = Node::live_count();
  {
    const DetectAnomalyGuard guard;
    const Tensor x = numbers({2});
    sum(mul(x, exp(x))).backward({}, false, /*create_graph=*/true);
    x.mutable_grad().reset();
  }
  EXPECT_EQ(Node::live_count(), before);
}

}  // namespace
}  // namespace sy::sample
