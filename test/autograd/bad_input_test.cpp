#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "aten/operators.h"
#include "aten/ops/activation.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/foreach_arithmetic.h"
#include "aten/ops/linalg.h"
#include "aten/ops/math.h"
#include "aten/ops/ranges.h"
#include "aten/ops/reduction.h"
#include "aten/ops/scatter.h"
#include "aten/ops/shape.h"
#include "aten/ops/softmax.h"
#include "aten/ops/view.h"
#include "aten/tensor.h"
#include "autograd/anomaly.h"
#include "autograd/api.h"
#include "autograd/function.h"
#include "c10/memory/allocator.h"
#include "test/c10/expect_error.h"

// Errors in a backward run: each is a typed error that names operator and
// place, and leaves the engine, and the graph if it was not freed, as they
// were.

namespace sy {
namespace {

using namespace sy::autograd;  // NOLINT
using sy::autograd::Node;

// An exception of the user comes out as an Error that has it nested.
void expect_foreign(const Tensor& root, const char* part) {
  try {
    root.backward({}, true);
    ADD_FAILURE() << "did not throw";
  } catch (const Error& e) {
    EXPECT_NE(e.message().find(part), std::string::npos) << e.message();
    EXPECT_NE(dynamic_cast<const std::nested_exception*>(&e), nullptr);
  }
}

// x * w summed, whose gradient is w.
class BadInput : public ::testing::Test {
 protected:
  BadInput() : before_(Node::live_count()) {}
  ~BadInput() override {
    w_ = x_ = Tensor();
    EXPECT_EQ(Node::live_count(), before_) << "nodes are left";
  }

  void expect_usable() {
    x_.mutable_grad().reset();
    (x_ * w_).sum().backward();
    EXPECT_TRUE(x_.grad().equal(w_));
    x_.mutable_grad().reset();
  }
  void expect_usable(const Tensor& root, const Tensor& gradient) {
    x_.mutable_grad().reset();
    root.backward();
    EXPECT_TRUE(x_.grad().equal(gradient));
    expect_usable();
  }

 private:
  const int64_t before_;

 protected:
  Tensor w_ = arange(6, kDouble).reshape({2, 3});
  Tensor x_ = ones({2, 3}, kDouble).requires_grad_();
};

TEST_F(BadInput, SeveralElementsWithoutAGradient) {
  const Tensor y = x_ * w_;
  SY_EXPECT_ERROR(y.backward(), ValueError,
                  "[backward] tensors[0]: expected a tensor of one element, or "
                  "a gradient for it, got float64[2, 3] on cpu, the result of "
                  "mul.Tensor");
  SY_EXPECT_ERROR(backward({x_.sum(), y}), ValueError, "[backward] tensors[1]");
  SY_EXPECT_ERROR(grad(y, x_), ValueError, "[grad] outputs[0]: expected a ");
  EXPECT_FALSE(x_.grad().defined());
  expect_usable(y.sum(), w_);
}

TEST_F(BadInput, AnotherGradientThanTheTensorHas) {
  const Tensor y = x_ * w_;
  SY_EXPECT_ERROR(y.backward(ones({3, 2}, kDouble)), ValueError,
                  "[backward] gradient of tensors[0]: expected size [2, 3], "
                  "got float64[3, 2] on cpu, for float64[2, 3] on cpu, the "
                  "result of mul.Tensor");
  SY_EXPECT_ERROR(y.backward(ones({2, 3}, kLong)), TypeError,
                  "expected a floating dtype, got int64[2, 3] on cpu, for ");
  SY_EXPECT_ERROR(
      y.backward(empty({2, 3}, TensorOptions(kDouble).device(kMeta))),
      ValueError, "expected device cpu, got float64[2, 3] on meta, for ");
  SY_EXPECT_ERROR(grad(y, x_, ones({3}, kDouble)), ValueError,
                  "[grad] gradient of outputs[0]: expected size [2, 3]");
  SY_EXPECT_ERROR(backward({y, y}, {y}), ValueError,
                  "[backward] expected a gradient for each of 2 tensors, got "
                  "1");
  EXPECT_FALSE(x_.grad().defined());
  y.backward(ones({2, 3}, kFloat));  // another precision is converted
  EXPECT_EQ(x_.grad().scalar_type(), kDouble);
  expect_usable();
}

TEST_F(BadInput, ASecondRun) {
  const Tensor y = (x_ * x_).sum();
  y.backward();
  SY_EXPECT_ERROR(y.backward(), Error,
                  "[mul backward] backward through the graph a second time: "
                  "the first call freed what mul.Tensor had saved; give it "
                  "retain_graph = true");
  SY_EXPECT_ERROR(grad(y, x_), Error, "in the gradient of mul.Tensor");
  expect_usable();
}

TEST_F(BadInput, AGraphFreedThroughAnotherRoot) {
  const Tensor shared = x_ * x_;
  const Tensor one = shared.sum(), other = (shared * w_).sum();
  one.backward();
  SY_EXPECT_ERROR(other.backward(), Error, "[mul backward] backward through");
  const Tensor again = (x_ * x_ * w_).sum();
  (void)grad(again, x_);
  SY_EXPECT_ERROR(again.backward(), Error, "a second time");
  expect_usable();
}

TEST_F(BadInput, WritingToAnUndefinedTensor) {
  Tensor none;
  SY_EXPECT_ERROR(none.mul_(x_), ValueError,
                  "self: expected a tensor, got an undefined one");
  SY_EXPECT_ERROR(none.copy_(x_), ValueError, "got an undefined one");
  SY_EXPECT_ERROR(none.scatter_add_(0, zeros({3}, kLong), x_), ValueError,
                  "got an undefined one");
  const std::vector<Tensor> written = {none}, others = {x_};
  SY_EXPECT_ERROR(_foreach_mul_(written, others), ValueError,
                  "got an undefined one");
  SY_EXPECT_ERROR(_foreach_add_(written, others), ValueError,
                  "got an undefined one");
  SY_EXPECT_ERROR(none.addmm_(x_, x_), ValueError, "got an undefined one");
  SY_EXPECT_ERROR(none.baddbmm_(x_, x_), ValueError, "");
}

// The saved argument would hold the history that holds it.
TEST_F(BadInput, WritingToAnArgumentThatIsSavedLeaksNothing) {
  const auto expect_freed = [](auto&& write) {
    const Tensor w = ones({2, 3, 3}, kDouble).requires_grad_();
    Tensor x = ones({2, 3, 3}, kDouble).clone();
    const weak_intrusive_ptr<TensorImpl> alive(x.impl_ptr());
    write(x, w);
    x.sum().backward();
    EXPECT_TRUE(w.grad().defined());
    x = Tensor();
    EXPECT_TRUE(alive.expired());
  };
  expect_freed([](Tensor& x, const Tensor& w) { x.baddbmm_(w, x); });
  expect_freed([](Tensor& x, const Tensor& w) { x.baddbmm_(x, w); });
  expect_freed([](Tensor& x, const Tensor& w) {
    x.select(0, 0).addmm_(w.select(0, 0), x.select(0, 1));
  });
  expect_freed([](Tensor& x, const Tensor& w) {
    Tensor first = x.select(0, 0);
    first.addbmm_(w, x);
  });
  expect_freed([](Tensor& x, const Tensor& w) { x.addcmul_(w, x); });
  expect_freed([](Tensor& x, const Tensor& w) { x.mul_(w).mul_(x); });
}

TEST_F(BadInput, IntegerTensors) {
  const Tensor n = arange(3);
  SY_EXPECT_ERROR(n.requires_grad_(), ValueError,
                  "[requires_grad_] expected a floating dtype, got int64[3]");
  SY_EXPECT_ERROR(n.sum().backward(), ValueError,
                  "[backward] tensors[0]: expected a tensor that requires a "
                  "gradient, got int64[] on cpu, which has no history");
  const Tensor at = x_.argmax();  // of what requires one
  EXPECT_FALSE(at.requires_grad());
  SY_EXPECT_ERROR(at.backward(), ValueError, "which has no history");
  SY_EXPECT_ERROR(grad(x_.sum(), n), ValueError,
                  "[grad] inputs[0]: expected a tensor that requires a "
                  "gradient, got int64[3]");
  expect_usable();
}

// Gives what `gradient` returns as the gradient of its argument.
struct Says : Function<Says> {
  static inline std::function<variable_list(const Tensor&)> gradient;
  static Tensor forward(AutogradContext*, const Tensor& x) { return x * 1; }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return gradient(grads[0]);
  }
};

TEST_F(BadInput, WhatAFunctionReturns) {
  const Tensor y = Says::apply(x_).sum();
  const auto expect = [&](auto f, const char* text) {
    Says::gradient = f;
    const std::string name = "Says backward] ";
    SY_EXPECT_ERROR(y.backward({}, true), ValueError, text);
    SY_EXPECT_ERROR(y.backward({}, true), ValueError, name);
    EXPECT_FALSE(x_.grad().defined());
  };
  expect([](const Tensor&) { return variable_list(); },
         "expected 1 gradients, one for each argument of forward, got 0");
  expect([](const Tensor& g) { return variable_list{g, g}; }, "got 2");
  expect(
      [](const Tensor& g) {
        return variable_list{g.reshape({3, 2})};
      },
      "expected a gradient of size [2, 3], got float64[3, 2]");
  Says::gradient = [](const Tensor& g) { return variable_list{g.to(kLong)}; };
  SY_EXPECT_ERROR(y.backward({}, true), TypeError,
                  "expected a floating gradient, got int64[2, 3]");
  Says::gradient = [](const Tensor& g) -> variable_list {
    return {g.to(kLong).matmul(g.to(kLong))};  // an operator's own error
  };
  SY_EXPECT_ERROR(y.backward({}, true), ValueError, "Says");
  Says::gradient = [](const Tensor& g) { return variable_list{g}; };
  expect_usable(y, ones({2, 3}, kDouble));
}

TEST_F(BadInput, WhatHooksDo) {
  const Tensor y = (x_ * w_).exp().sum();
  const Tensor good = grad(y, x_, {}, true)[0];
  {
    const Tensor inner = x_ * w_;
    const Tensor z = inner.sum();
    HookHandle h = inner.register_hook(
        [](const Tensor&) -> Tensor { throw std::runtime_error("mine"); });
    for (const char* part : {"mine", "bad_input_test.cpp:", "mul.Tensor"}) {
      expect_foreign(z, part);
    }
    h.remove();
    h = inner.register_hook([](const Tensor& g) { return g[0]; });
    SY_EXPECT_ERROR(z.backward({}, true), ValueError,
                    "should give float64[2, 3] on cpu for output 0 of "
                    "mul.Tensor, gave float64[3] on cpu");
    h.remove();
    // A thrown object that is no std::exception passes as it is.
    h = inner.register_hook([](const Tensor&) -> Tensor { throw 5; });
    EXPECT_THROW(z.backward({}, true), int);
    h.remove();
    h = x_.register_post_accumulate_grad_hook(
        [](const Tensor&) { throw std::logic_error("of the leaf"); });
    expect_foreign(z, "of the leaf");
    h.remove();
    x_.mutable_grad().reset();
    expect_usable(z, w_);
  }
  expect_usable(y, good);
}

TEST_F(BadInput, SavedTensorsThatWereWritten) {
  Tensor m = x_ * w_;
  const Tensor y = (m * m).sum(), fine = m.sum();
  m.mul_(2);
  for (int i = 0; i < 2; ++i) {
    SY_EXPECT_ERROR(y.backward({}, true), Error,
                    "[mul backward] a saved tensor was changed in place: saved "
                    "by mul.Tensor (other), overwritten by mul_.Scalar");
  }
  EXPECT_FALSE(x_.grad().defined());
  expect_usable(fine, w_);
}

TEST_F(BadInput, AnErrorAtTheFarEndOfADeepGraph) {
  Tensor y = Says::apply(x_);
  for (int i = 0; i < 100000; ++i) y = y * 1;
  Says::gradient = [](const Tensor&) -> variable_list {
    throw std::runtime_error("mine");
  };
  const Tensor root = y.sum();
  expect_foreign(root, "mine");
  Says::gradient = [](const Tensor& g) { return variable_list{g}; };
  expect_usable(root, ones({2, 3}, kDouble));
}

TEST_F(BadInput, AnErrorInARunWithinARun) {
  const Tensor y = Says::apply(x_).sum();
  Says::gradient = [this](const Tensor& g) {
    const AutoGradMode on(true);
    const Tensor inner = x_.detach().clone().requires_grad_();
    (inner * w_).backward();  // several elements
    return variable_list{g};
  };
  SY_EXPECT_ERROR(y.backward({}, true), ValueError,
                  "got float64[2, 3] on cpu, the result of mul.Tensor");
  SY_EXPECT_ERROR(y.backward({}, true), ValueError, "Says");
  Says::gradient = [this](const Tensor& g) {
    const AutoGradMode on(true);
    const Tensor inner = x_.detach().clone().requires_grad_();
    (inner * w_).sum().backward();
    return variable_list{g * inner.grad()};
  };
  expect_usable(y, w_);
}

TEST_F(BadInput, GraphsThatCrossThreads) {
  Tensor y, m;
  std::thread([&] {
    const DetectAnomalyGuard guard;
    m = x_ * w_;
    y = (m * m).sum();
  }).join();
  m.mul_(2);  // here; what follows is in a third thread, this one frees
  std::thread([&] {
    for (const char* part :
         {"[mul backward] a saved tensor was changed in place: saved by "
          "mul.Tensor (other), overwritten by mul_.Scalar",
          "in the gradient of mul.Tensor, recorded\n  at "}) {
      SY_EXPECT_ERROR(y.backward({}, true), Error, part);
    }
    expect_usable();
  }).join();
  m = Tensor();
  y = Tensor();
  expect_usable();
}

// Runs that fail and runs that do not, through one graph.
TEST_F(BadInput, InEightThreads) {
  const Tensor shared = x_ * w_;
  const Tensor good = shared.sum();
  Tensor m = shared.exp();
  const Tensor bad = (m * m).sum();
  m.mul_(2);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 20; ++k) {
        if (i % 2 == 0) {
          SY_EXPECT_ERROR(bad.backward({}, true), Error, "overwritten by");
        } else {
          EXPECT_TRUE(grad(good, x_, {}, true)[0].equal(w_));
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_FALSE(x_.grad().defined());
  expect_usable(good, w_);
}

// Each allocation of a run fails in turn.
TEST_F(BadInput, NoMemory) {
  const auto record = [&] {
    Tensor base = x_.clone();
    base.select(0, 0).mul_(w_[1]);
    return (base.exp() * base.softmax(1)).matmul(w_.t()).sum();
  };
  const Tensor y = record();
  const Tensor expected = grad(y, x_, {}, true)[0];
  const int64_t bytes = memory_stats().allocated;
  int64_t n = 1;
  for (;; ++n) {
    x_.mutable_grad().reset();
    fail_allocation(n);
    std::string message;
    try {
      y.backward({}, true);
    } catch (const OutOfMemoryError& e) {
      message = e.message();
    }
    const bool failed = fail_allocation(0) == 0;
    EXPECT_EQ(failed, !message.empty()) << n;
    if (!failed) break;
    x_.mutable_grad().reset();
    EXPECT_EQ(memory_stats().allocated, bytes) << n << ": " << message;
    y.backward({}, true);
    EXPECT_TRUE(x_.grad().equal(expected)) << n;
  }
  EXPECT_GT(n, 8);
  x_.mutable_grad().reset();
  for (n = 1;; ++n) {  // and of what records it
    fail_allocation(n);
    try {
      record();
    } catch (const OutOfMemoryError&) {
    }
    if (fail_allocation(0) != 0) break;
    EXPECT_EQ(memory_stats().allocated, bytes) << n;
  }
  expect_usable();
}

}  // namespace
}  // namespace sy
