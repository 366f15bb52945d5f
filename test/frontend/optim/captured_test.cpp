#include <sy/compile.h>
#include <sy/lazy.h>

#include "test/frontend/optim/trajectory.h"

// Optimizers on the lazy device, and in compiled steps.

namespace sy::test {
namespace {

using namespace optim;

struct Kind {
  const char *name, *options;
};

constexpr Kind kKinds[] = {
    {"SGD", "lr=0.1,momentum=0.9,nesterov=true"},
    {"Adam", "lr=0.1,amsgrad=true,weight_decay=0.1"},
    {"AdamW", "lr=0.1"},
    {"Adagrad", "lr=0.1,lr_decay=0.1"},
    {"RMSprop", "lr=0.01,centered=true,momentum=0.5"},
    {"Adadelta", "lr=1.0"},
    {"Adamax", "lr=0.1"},
    {"NAdam", "lr=0.1"},
    {"RAdam", "lr=0.1,betas=0.9:0.99"},
    {"ASGD", "lr=0.1,lambd=0.1,t0=5"},
    {"Rprop", "lr=0.1"},
    {"Adafactor", "lr=0.1,weight_decay=0.1"},
    {"Muon", "lr=0.1"},
};

class Captured : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override { load_library("lazy").keep(); }

  // The results of plain steps, with an lr that changes.
  static std::vector<Tensor> plain(const Kind& kind) {
    const std::vector<Tensor> p = parameters(kind.name, kDouble);
    const auto o = make_optimizer(kind.name, kind.options, numbered(p));
    ExponentialLR scheduler(*o, 0.9);
    std::vector<Tensor> rows;
    for (int step = 0; step < kSteps; ++step) {
      for (size_t i = 0; i < p.size(); ++i) {
        p[i].mutable_grad() = dense(i, p[i].detach(), step);
      }
      o->step();
      scheduler.step();
      rows.push_back(row(p));
    }
    return rows;
  }
  // All parameters have one.
  static Tensor dense(size_t i, const Tensor& p, int step) {
    const Tensor t = value(i, p.sizes(), kDouble, 50).to(p.device());
    return (p - t) * 0.5 +
           value(i, p.sizes(), kDouble, step).to(p.device()) * 0.2;
  }
  static std::vector<Tensor> all_dense(const std::vector<Tensor>& p, int step) {
    std::vector<Tensor> grads;
    for (size_t i = 0; i < p.size(); ++i) {
      grads.push_back(dense(i, p[i].detach(), step));
    }
    return grads;
  }
  // Calls are recorded again while noise on the stack looks like changes; that
  // ends. The steps before are too few to tell.
  template <class Step>
  static void expect_replays(Step& step, const std::vector<Tensor>& p) {
    for (int i = 0; i < 60; ++i) step(all_dense(p, i));
    EXPECT_GT(step.counters().replays, 20) << step.explain();
  }
  // Muon's bfloat16 products may be summed in another order.
  static double tolerance(const Kind& kind) {
    return kind.name == std::string("Muon") ? 2e-2 : 1e-12;
  }
};

TEST_P(Captured, StepsOnTheLazyDeviceAreTheSame) {
  const Kind kind = GetParam();
  const std::vector<Tensor> expected = plain(kind);
  std::vector<Tensor> p;
  for (const Tensor& t : parameters(kind.name, kDouble)) {
    p.push_back(t.detach().to(Device("lazy")).requires_grad_());
  }
  const auto o = make_optimizer(kind.name, kind.options, numbered(p));
  ExponentialLR scheduler(*o, 0.9);
  for (int step = 0; step < kSteps; ++step) {
    for (size_t i = 0; i < p.size(); ++i) {
      p[i].mutable_grad() = dense(i, p[i].detach(), step);
    }
    o->step();
    scheduler.step();
    lazy::sync();
    expect_near(row(p), expected[static_cast<size_t>(step)], tolerance(kind),
                "step " + std::to_string(step));
  }
}

TEST_P(Captured, CompiledStepsAreTheSame) {
  const Kind kind = GetParam();
  const std::vector<Tensor> expected = plain(kind);
  const std::vector<Tensor> p = parameters(kind.name, kDouble);
  const auto o = make_optimizer(kind.name, kind.options, numbered(p));
  ExponentialLR scheduler(*o, 0.9);
  auto compiled = sy::compile([&](const std::vector<Tensor>& grads) {
    for (size_t i = 0; i < p.size(); ++i) p[i].mutable_grad() = grads[i];
    o->step();
    o->zero_grad();
  });
  for (int step = 0; step < kSteps; ++step) {
    const std::vector<Tensor> grads = all_dense(p, step);
    compiled(grads);
    scheduler.step();
    expect_near(row(p), expected[static_cast<size_t>(step)], tolerance(kind),
                "step " + std::to_string(step));
  }
  expect_replays(compiled, p);
}

// Steps that are not captured, and a state that is loaded, are seen by replays.
TEST_P(Captured, CompiledAndPlainStepsMayTakeTurns) {
  const Kind kind = GetParam();
  const std::vector<Tensor> expected = plain(kind);
  const std::vector<Tensor> p = parameters(kind.name, kDouble);
  const auto o = make_optimizer(kind.name, kind.options, numbered(p));
  ExponentialLR scheduler(*o, 0.9);
  auto compiled = sy::compile([&](const std::vector<Tensor>& grads) {
    for (size_t i = 0; i < p.size(); ++i) p[i].mutable_grad() = grads[i];
    o->step();
    o->zero_grad();
  });
  NamedTensors state;
  std::vector<Tensor> at;
  for (int turn = 0; turn < kSteps + 6; ++turn) {
    // The steps from 8 on are taken again, from what was kept before.
    const int step = turn < 14 ? turn : turn - 6;
    if (turn == 8) {
      for (const auto& [name, t] : o->state_dict()) {
        state.insert(name, t.clone());
      }
      for (const Tensor& t : p) at.push_back(t.detach().clone());
    }
    if (turn == 14) {
      o->load_state_dict(state);
      const NoGradGuard no_grad;
      for (size_t i = 0; i < p.size(); ++i) p[i].copy_(at[i]);
    }
    const std::vector<Tensor> grads = all_dense(p, step);
    if (turn % 5 == 4) {
      for (size_t i = 0; i < p.size(); ++i) p[i].mutable_grad() = grads[i];
      o->step();
      o->zero_grad();
    } else {
      compiled(grads);
    }
    scheduler.step();
    expect_near(row(p), expected[static_cast<size_t>(step)], tolerance(kind),
                "turn " + std::to_string(turn));
  }
  expect_replays(compiled, p);
}

// Parameters and their optimizer, beside those of a compiled step.
struct Twin {
  explicit Twin(const Kind& kind)
      : p(parameters(kind.name, kDouble)),
        o(make_optimizer(kind.name, kind.options, numbered(p))) {}

  // Without `all`, the first parameter has no gradient.
  void step(const std::vector<Tensor>& grads, bool all) const {
    for (size_t i = all ? 0 : 1; i < p.size(); ++i) {
      p[i].mutable_grad() = grads[i];
    }
    o->step();
    o->zero_grad();
  }

  std::vector<Tensor> p;
  std::unique_ptr<Optimizer> o;
};

// The numbers of steps of parameters differ once one of them has no gradient in
// some steps. Varied: when that is. Never: which parameter it is.
TEST_P(Captured, CompiledStepsMayLeaveAParameterOut) {
  const Twin mine(GetParam()), other(GetParam());
  auto compiled = sy::compile(
      [&](const std::vector<Tensor>& g, bool all) { mine.step(g, all); });
  for (int i = 0; i < 60; ++i) {
    const std::vector<Tensor> grads = all_dense(other.p, i);
    const bool all = i / 10 % 2 == 0;
    compiled(grads, all);
    other.step(grads, all);
    expect_near(row(mine.p), row(other.p), tolerance(GetParam()),
                "step " + std::to_string(i));
    ASSERT_FALSE(HasFailure()) << compiled.explain();
  }
  EXPECT_GT(compiled.counters().replays, 15) << compiled.explain();
}

// Parameters of a state that is loaded have taken other steps.
TEST_P(Captured, ALoadedStateMayHaveTakenOtherSteps) {
  const Twin mine(GetParam()), other(GetParam());
  auto compiled =
      sy::compile([&](const std::vector<Tensor>& g) { mine.step(g, true); });
  for (int i = 0; i < 20; ++i) compiled(all_dense(mine.p, i));
  for (int i = 0; i < 20; ++i) other.step(all_dense(other.p, i), i % 3 != 0);
  mine.o->load_state_dict(other.o->state_dict());
  {
    const NoGradGuard no_grad;
    for (size_t i = 0; i < mine.p.size(); ++i) {
      Tensor(mine.p[i]).copy_(other.p[i]);
    }
  }
  for (int i = 20; i < 60; ++i) {
    const std::vector<Tensor> grads = all_dense(other.p, i);
    compiled(grads);
    other.step(grads, true);
    expect_near(row(mine.p), row(other.p), tolerance(GetParam()),
                "step " + std::to_string(i));
    ASSERT_FALSE(HasFailure()) << compiled.explain();
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, Captured, testing::ValuesIn(kKinds),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace sy::test
