#include "aten/ops/recurrent.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/factory.h"
#include "aten/ops/random.h"
#include "aten/ops/reduction.h"
#include "aten/ops/view.h"
#include "aten/tensor_new.h"
#include "autograd/api.h"
#include "backends/cpu/gemm/packed_weight.h"
#include "c10/dispatch/thread_state.h"
#include "c10/dispatch/trace.h"
#include "c10/memory/allocator.h"
#include "test/aten/tensor_values.h"
#include "test/c10/with_environment.h"

// Layers that run as a whole, with and without gradients, beside the same as
// packed sequences of one length, which always run step by step.

namespace sy {
namespace {

constexpr int64_t kSteps = 7, kRows = 6, kIn = 48, kHidden = 64;

struct Form {
  const char* cell = "lstm";
  int64_t layers = 1;
  bool biases = true, bidirectional = false, batch_first = false;
};

std::string name(const Form& f) {
  return str("{} of {} layers{}{}{}", f.cell, f.layers,
             f.biases ? ", biases" : "", f.bidirectional ? ", both ways" : "",
             f.batch_first ? ", batch first" : "");
}

// The operator's arguments.
struct Network {
  explicit Network(const Form& form = {}, ScalarType dtype = kFloat)
      : form(form) {
    const std::string cell = form.cell;
    const int64_t gates = cell == "lstm" ? 4 : cell == "gru" ? 3 : 1;
    const int64_t directions = form.bidirectional ? 2 : 1;
    const auto random = [&](IntArrayRef sizes) {
      return (randn(sizes) * 0.2).to(dtype);
    };
    for (int64_t i = 0; i < form.layers * directions; ++i) {
      const int64_t in = i < directions ? kIn : kHidden * directions;
      weights.push_back(random({gates * kHidden, in}));
      weights.push_back(random({gates * kHidden, kHidden}));
      if (!form.biases) continue;
      weights.push_back(random({gates * kHidden}));
      weights.push_back(random({gates * kHidden}));
    }
    x = form.batch_first ? random({kRows, kSteps, kIn})
                         : random({kSteps, kRows, kIn});
    h = random({form.layers * directions, kRows, kHidden});
    c = random({form.layers * directions, kRows, kHidden});
  }

  std::vector<Tensor> run() const {
    const auto of = [&](auto f, const auto& hx) {
      return f(x, hx, weights, form.biases, form.layers, 0.0, false,
               form.bidirectional, form.batch_first);
    };
    return run(of);
  }
  std::vector<Tensor> by_steps() const {
    const Tensor steps = form.batch_first ? x.transpose(0, 1) : x;
    const int64_t n = steps.size(0), rows = steps.size(1);
    const Tensor data = steps.reshape({n * rows, steps.size(2)});
    const Tensor sizes = full({n}, rows, kLong);
    const auto of = [&](auto f, const auto& hx) {
      return f(data, sizes, hx, weights, form.biases, form.layers, 0.0, false,
               form.bidirectional);
    };
    std::vector<Tensor> results = run(of);
    results[0] = results[0].view({n, rows, results[0].size(1)});
    if (form.batch_first) results[0] = results[0].transpose(0, 1);
    return results;
  }
  void expect_right(const std::string& when) const {
    const std::vector<Tensor> got = run(), want = by_steps();
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].dtype(), want[i].dtype());
      ASSERT_EQ(ints(got[i].sizes()), ints(want[i].sizes())) << when;
      EXPECT_TRUE(got[i].allclose(want[i], 1e-4, 1e-5, true))
          << when << ", result " << i;
    }
  }

  Form form;
  std::vector<Tensor> weights;
  Tensor x, h, c;

 private:
  template <class F>
  std::vector<Tensor> run(const F& of) const {
    const std::string cell = form.cell;
    if (cell == "lstm") {
      const auto [y, h_n, c_n] =
          of([](auto&&... a) { return lstm(a...); }, std::vector<Tensor>{h, c});
      return {y, h_n, c_n};
    }
    const auto [y, h_n] =
        cell == "gru"    ? of([](auto&&... a) { return gru(a...); }, h)
        : cell == "tanh" ? of([](auto&&... a) { return rnn_tanh(a...); }, h)
                         : of([](auto&&... a) { return rnn_relu(a...); }, h);
    return {y, h_n};
  }
};

std::string told(const Network& net) {
  ::testing::internal::CaptureStderr();
  {
    const Trace trace("dispatch");
    net.run();
  }
  return ::testing::internal::GetCapturedStderr();
}
void expect_told(const Network& net, const char* what) {
  const std::string text = told(net);
  EXPECT_NE(text.find(what), std::string::npos) << text;
}

void expect_every_form() {
  for (const char* cell : {"lstm", "gru", "tanh", "relu"}) {
    for (const Form& form :
         {Form{cell}, Form{cell, 1, false}, Form{cell, 1, true, true},
          Form{cell, 2, true, false, true}, Form{cell, 3, true, true, true}}) {
      Network(form).expect_right(name(form));
    }
    Network(Form{cell}, kDouble).expect_right("float64");
  }
}

class RecurrentLayers : public ::testing::Test {
 protected:
  void SetUp() override { trim_memory(); }
  NoGradGuard no_grad_;
};

TEST_F(RecurrentLayers, AgreeWithTheirSteps) { expect_every_form(); }

TEST_F(RecurrentLayers, AgreeWithTheirStepsWithoutOneDnn) {
  if (!with_environment("SWITCHYARD_ONEDNN", "/nowhere.so")) return;
  expect_every_form();
  expect_told(Network(), "by steps; not oneDNN: not loaded");
}

TEST_F(RecurrentLayers, TakeAnyStrides) {
  Network net;
  net.x = randn({kRows, kIn, kSteps}).permute({2, 0, 1});
  net.h = net.h.narrow(1, 0, 1).expand({1, kRows, kHidden});
  net.c = randn({1, kHidden, kRows}).transpose(1, 2);
  for (Tensor& w : net.weights) {
    w = w.dim() == 2 ? w.t().contiguous().t() : w.narrow(0, 0, 1).expand_as(w);
  }
  net.expect_right("without gradients");
  GradMode::set_enabled(true);
  net.x.requires_grad_(true);
  net.expect_right("with gradients");
}

TEST_F(RecurrentLayers, KeepPackedWeightsUntilTheyAreWritten) {
  const Network net;
  for (int i = 0; i < 3; ++i) net.expect_right("packed");
  EXPECT_EQ(cpu::packed_weight_stats().count, 2);
  for (const Tensor& w : net.weights) {
    Tensor(w).mul_(-2);
    for (int i = 0; i < 3; ++i) net.expect_right("written");
  }
}

TEST_F(RecurrentLayers, PassNanAndInfinityOn) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const double value : {kNan, kInf, -kInf}) {
    const auto expect = [&](const char* where, auto at) {
      Network net;
      at(net).fill_(value);
      net.expect_right(str("{} in {}", value, where));
    };
    expect("x", [](Network& n) { return n.x[2][1][3]; });
    expect("h", [](Network& n) { return n.h[0][1][3]; });
    expect("c", [](Network& n) { return n.c[0][1][3]; });
    expect("w_ih", [](Network& n) { return n.weights[0][70][3]; });
    expect("w_hh", [](Network& n) { return n.weights[1][7][3]; });
    expect("b_ih", [](Network& n) { return n.weights[2][130]; });
  }
}

TEST_F(RecurrentLayers, TakeBatchesOfNoSequences) {
  Network net;
  net.x = net.x.narrow(1, 0, 0);
  net.h = net.h.narrow(1, 0, 0);
  net.c = net.c.narrow(1, 0, 0);
  const std::vector<Tensor> results = net.run();
  EXPECT_EQ(ints(results[0].sizes()),
            (std::vector<int64_t>{kSteps, 0, kHidden}));
  EXPECT_EQ(ints(results[2].sizes()), (std::vector<int64_t>{1, 0, kHidden}));
}

TEST_F(RecurrentLayers, TellWhichWayTheyTook) {
  expect_told(Network(), "layer of lstm by oneDNN\n");
  expect_told(Network({}, kDouble),
              "layer of lstm by steps; not oneDNN: dtype float64\n");
  Network few;
  few.x = few.x.narrow(0, 0, 2);
  expect_told(few, "multiplications, fewer than 1048576\n");
}

// The gradients of a loss that gives each result a weight of its own.
std::vector<Tensor> gradients(Network net, bool by_steps,
                              const std::vector<bool>& of) {
  std::vector<Tensor> inputs = {net.x, net.h, net.c};
  inputs.insert(inputs.end(), net.weights.begin(), net.weights.end());
  for (Tensor& t : inputs) t = t.detach().clone().requires_grad_(true);
  net.x = inputs[0];
  net.h = inputs[1];
  net.c = inputs[2];
  net.weights.assign(inputs.begin() + 3, inputs.end());
  const std::vector<Tensor> results = by_steps ? net.by_steps() : net.run();
  Tensor loss = zeros({}, net.x.options());
  for (size_t i = 0; i < results.size(); ++i) {
    if (of[i]) loss = loss + (results[i] * results[i]).sum() * double(i + 1);
  }
  loss.backward();
  std::vector<Tensor> list;
  for (const Tensor& t : inputs) list.push_back(t.grad());
  return list;
}

TEST(RecurrentGradients, AgreeWithThoseOfTheSteps) {
  for (const Form& form : {Form{"lstm"}, Form{"lstm", 1, false},
                           Form{"lstm", 2, true, true, true}}) {
    const Network net(form, kDouble);
    for (const std::vector<bool>& of : {std::vector<bool>{true, true, true},
                                        {true, false, false},
                                        {false, true, false},
                                        {false, false, true}}) {
      const std::vector<Tensor> got = gradients(net, false, of);
      const std::vector<Tensor> want = gradients(net, true, of);
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].defined(), want[i].defined()) << i;
        if (!want[i].defined()) continue;
        EXPECT_TRUE(got[i].allclose(want[i], 1e-9, 1e-11))
            << name(form) << ", argument " << i;
      }
    }
  }
}

}  // namespace
}  // namespace sy
