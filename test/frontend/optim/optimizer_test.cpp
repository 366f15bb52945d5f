#include <cmath>

#include "test/c10/expect_error.h"
#include "test/frontend/optim/trajectory.h"

namespace sy::test {
namespace {

using namespace optim;

Tensor leaf(IntArrayRef sizes, double v = 1, ScalarType dtype = kDouble) {
  return full(sizes, v, TensorOptions(dtype)).requires_grad_();
}

double first_of(const Tensor& t) {
  return t.detach().reshape(-1).select(0, 0).item<double>();
}

template <class Options>
std::unique_ptr<Options> options_of(const Options& options) {
  return std::make_unique<Options>(options);
}

TEST(Optimizer, ProgramsForLibtorchCompile) {
  const Tensor w = leaf({2}), b = leaf({1});
  SGD sgd({w, b}, 0.1);
  SGD with(std::vector<Tensor>{w, b}, SGDOptions(0.1).momentum(0.9));
  EXPECT_EQ(with.size(), 2u);
  EXPECT_EQ(with.parameters().size(), 2u);
  Adam adam({w}, AdamOptions(2e-4).betas(std::make_tuple(0.5, 0.999)));
  for (auto& group : adam.param_groups()) {
    if (!group.has_options()) continue;
    auto& options = static_cast<AdamOptions&>(group.options());
    options.lr(options.lr() * 0.5).betas({0.6, 0.9});
    group.options().set_lr(group.options().get_lr() * 0.5);
    EXPECT_EQ(group.params().size(), 1u);
  }
  EXPECT_EQ(adam.param_groups()[0].options().get_lr(), 5e-5);
  EXPECT_EQ(static_cast<AdamOptions&>(adam.defaults()).lr(), 2e-4);
  adam.add_param_group(OptimizerParamGroup(std::vector<Tensor>{b}));
  EXPECT_EQ(adam.size(), 2u);
  const Tensor loss = sgd.step([&] {
    sgd.zero_grad();
    const Tensor l = (w * w).sum() + b.sum();
    l.backward();
    return l;
  });
  EXPECT_EQ(loss.item<double>(), 3);
  EXPECT_EQ(first_of(w), 1 - 0.1 * 2);
  EXPECT_EQ(first_of(b), 0.9);
}

TEST(Optimizer, GroupsHaveTheOptionsThatTheyDoNotSetFromTheOptimizer) {
  const Tensor w = leaf({2}), b = leaf({1}), c = leaf({1});
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{w},
                      options_of(AdamOptions().weight_decay(0.5)));
  groups.emplace_back(std::vector<Tensor>{b});
  groups.emplace_back(std::vector<Tensor>{c}, options_of(AdamOptions(0.25)));
  Adam adam(groups, AdamOptions(0.01).eps(1e-3));
  const auto& first =
      static_cast<AdamOptions&>(adam.param_groups()[0].options());
  EXPECT_EQ(first.weight_decay(), 0.5);
  EXPECT_EQ(first.lr(), 0.01);
  EXPECT_EQ(first.eps(), 1e-3);
  EXPECT_EQ(adam.param_groups()[1].options().get_lr(), 0.01);
  EXPECT_EQ(adam.param_groups()[2].options().get_lr(), 0.25);
}

TEST(Optimizer, ZeroGradTakesGradientsAwayOrFillsThem) {
  const Tensor w = leaf({2});
  SGD sgd({w}, 0.1);
  (w * 3).sum().backward();
  const Tensor g = w.grad();
  sgd.zero_grad(false);
  EXPECT_TRUE(w.grad().defined());
  EXPECT_EQ(first_of(w.grad()), 0);
  sgd.zero_grad();
  EXPECT_FALSE(w.grad().defined());
}

TEST(Optimizer, DtypesOfOneGroupAreUpdatedEachInItsOwn) {
  const Tensor d = leaf({3}), f = leaf({2, 2}, 1, kFloat),
               h = leaf({4}, 1, kBFloat16), none = leaf({0});
  Adam adam({d, f, h, none}, AdamOptions(0.5));
  for (int i = 0; i < 3; ++i) {
    for (const Tensor& t : {d, f, h, none}) {
      t.mutable_grad() = ones_like(t.detach());
    }
    adam.step();
  }
  EXPECT_NEAR(first_of(d), -0.5, 1e-7);
  EXPECT_NEAR(first_of(f), -0.5, 1e-5);
  EXPECT_NEAR(first_of(h), -0.5, 0.02);
  EXPECT_EQ(h.scalar_type(), kBFloat16);
}

TEST(Optimizer, CountsTheStepsOfEachParameter) {
  const Tensor a = leaf({1}), b = leaf({1});
  Adam adam(NamedTensors{{"a", a}, {"b", b}});
  for (int i = 0; i < 5; ++i) {
    a.mutable_grad() = ones({1}, kDouble);
    if (i % 2 == 0) {
      b.mutable_grad() = ones({1}, kDouble);
    } else {
      b.mutable_grad().reset();
    }
    adam.step();
  }
  EXPECT_EQ(adam.state_dict()["state.a.step"].item<double>(), 5);
  EXPECT_EQ(adam.state_dict()["state.b.step"].item<double>(), 3);
  EXPECT_EQ(adam.state()[b.impl()]["step"].item<double>(), 3);
}

TEST(Optimizer, WritesCountAsWrites) {
  const Tensor w = leaf({2});
  Adam adam({w});
  const Tensor loss = (w * w).sum();
  w.mutable_grad() = ones({2}, kDouble);
  adam.step();
  SY_EXPECT_ERROR(loss.backward(), Error, "");
}

TEST(Optimizer, RefusesGradientsOfOtherSizes) {
  const Tensor a = leaf({2}), b = leaf({3}, 1, kFloat);
  Adam adam(NamedTensors{{"a", a}, {"b", b}}, AdamOptions(0.5));
  a.mutable_grad() = ones({2}, kDouble);
  b.mutable_grad() = ones({2});
  SY_EXPECT_ERROR(adam.step(), ValueError,
                  "[Adam] step: gradient of parameter b: expected sizes [3], "
                  "got [2]");
  EXPECT_EQ(first_of(a), 1);
  b.mutable_grad() = ones({3});
  adam.step();
  EXPECT_NEAR(first_of(a), 0.5, 1e-7);
  EXPECT_EQ(adam.state_dict()["state.a.step"].item<double>(), 1);
}

TEST(Optimizer, AGradientMayBeTheParameter) {
  const Tensor w = leaf({3}, 2);
  w.mutable_grad() = w.detach();
  SGD({w}, 0.25).step();
  EXPECT_EQ(first_of(w), 1.5);
}

TEST(Optimizer, ParametersMayBeReplaced) {
  const Tensor a = leaf({2}), b = leaf({2});
  Adam adam({a}, AdamOptions(0.5));
  a.mutable_grad() = ones({2}, kDouble);
  adam.step();
  adam.param_groups()[0].params()[0] = b;
  b.mutable_grad() = ones({2}, kDouble);
  adam.step();
  EXPECT_NEAR(first_of(a), 0.5, 1e-7);
  EXPECT_NEAR(first_of(b), 0.5, 1e-7);
}

TEST(Optimizer, OptionsMayChangeBetweenSteps) {
  const Tensor w = leaf({2});
  SGD sgd({w}, 1.0);
  auto& options = static_cast<SGDOptions&>(sgd.param_groups()[0].options());
  const auto step = [&] {
    w.mutable_grad() = ones({2}, kDouble);
    sgd.step();
  };
  step();  // 0
  options.momentum(0.5);
  step();  // v = 1: -1
  step();  // v = 1.5: -2.5
  EXPECT_EQ(first_of(w), -2.5);
  Adam adam({w}, AdamOptions(0));
  step();
  w.mutable_grad() = ones({2}, kDouble);
  adam.step();
  static_cast<AdamOptions&>(adam.param_groups()[0].options()).amsgrad(true);
  adam.step();
  EXPECT_TRUE(adam.state_dict().contains("state.0.max_exp_avg_sq"));
}

TEST(Optimizer, IsUsableAfterAClosureThatThrows) {
  for (const char* const name : {"Adam", "LBFGS"}) {
    const std::vector<Tensor> p = parameters(name, kDouble),
                              q = parameters(name, kDouble);
    const std::string options = name == std::string("LBFGS")
                                    ? "lr=1,line_search_fn=strong_wolfe"
                                    : "lr=0.1";
    const auto a = make_optimizer(name, options, numbered(p)),
               b = make_optimizer(name, options, numbered(q));
    take_step(*a, name, p, 0);
    take_step(*b, name, q, 0);
    SY_EXPECT_ERROR(
        a->step([]() -> Tensor { fail(ErrorKind::Index, "the closure"); }),
        IndexError, "the closure");
    take_step(*a, name, p, 1);
    take_step(*b, name, q, 1);
    EXPECT_TRUE(equal(row(p), row(q))) << name;
  }
}

TEST(Optimizer, LbfgsPutsParametersBackIfItsLineSearchIsInterrupted) {
  const Tensor w = leaf({3}, 2);
  LBFGS lbfgs({w}, LBFGSOptions().line_search_fn("strong_wolfe"));
  int calls = 0;
  const auto closure = [&] {
    SY_CHECK(++calls != 2, Index, "the second call");
    lbfgs.zero_grad();
    const Tensor loss = (w * w * w * w).sum();
    loss.backward();
    return loss;
  };
  SY_EXPECT_ERROR(lbfgs.step(closure), IndexError, "the second call");
  EXPECT_EQ(first_of(w), 2);
  for (int i = 0; i < 10; ++i) lbfgs.step(closure);
  EXPECT_NEAR(first_of(w), 0, 0.01);
}

// d(loss after two steps) / d(a factor of the gradient), by autograd and by
// differences.
TEST(Optimizer, DifferentiableStepsHaveGradients) {
  for (const std::string name :
       {"SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "Adadelta", "Adamax",
        "NAdam", "RAdam", "ASGD"}) {
    const auto loss_of = [&](const Tensor& factor) {
      const Tensor w = value(0, {4}, kDouble, 3).requires_grad_() * 1;
      std::string options = "differentiable=true,lr=0.1";
      if (name == "SGD") options += ",momentum=0.5";
      const auto o = make_optimizer(name, options, NamedTensors{{"w", w}});
      for (int i = 0; i < 3; ++i) {
        w.mutable_grad() = value(0, {4}, kDouble, i) * factor + w * 0.5;
        o->step();
      }
      return (w * w).sum();
    };
    const Tensor factor = leaf({}, 0.7);
    loss_of(factor).backward();
    const double h = 1e-6;
    const double by_differences = (first_of(loss_of(leaf({}, 0.7 + h))) -
                                   first_of(loss_of(leaf({}, 0.7 - h)))) /
                                  (2 * h);
    EXPECT_NE(by_differences, 0) << name;
    EXPECT_NEAR(first_of(factor.grad()), by_differences, 1e-6) << name;
  }
}

TEST(Optimizer, StateGoesThroughAFile) {
  const char* const folder = std::getenv("TEST_TMPDIR");
  const std::string path =
      std::string(folder != nullptr ? folder : "/tmp") + "/optim.safetensors";
  const std::vector<Tensor> p = parameters("NAdam", kFloat),
                            q = parameters("NAdam", kFloat);
  // Without names, keys are numbers over all groups.
  NAdam a(std::vector<Tensor>{p[0], p[1]}, NAdamOptions(0.1));
  a.add_param_group(std::vector<Tensor>{p[2], p[3]});
  for (int i = 0; i < 3; ++i) take_step(a, "NAdam", p, i);
  save_safetensors(path, a.state_dict());
  NAdam b(std::vector<Tensor>{q[0], q[1]});
  b.add_param_group(std::vector<Tensor>{q[2], q[3]});
  b.load_state_dict(load_safetensors(path));
  EXPECT_EQ(b.param_groups()[1].options().get_lr(), 0.1);
  EXPECT_TRUE(b.state_dict().contains("state.3.mu_product"));
  {
    const NoGradGuard no_grad;
    for (size_t i = 0; i < p.size(); ++i) q[i].copy_(p[i]);
  }
  take_step(a, "NAdam", p, 3);
  take_step(b, "NAdam", q, 3);
  EXPECT_TRUE(equal(row(p), row(q)));
}

TEST(Optimizer, LoadingCopies) {
  const Tensor a = leaf({2}), b = leaf({2});
  SGD first({a}, SGDOptions(0.1).momentum(0.5));
  a.mutable_grad() = ones({2}, kDouble);
  first.step();
  SGD second({b}, 0.1);
  second.load_state_dict(first.state_dict());
  first.step();
  EXPECT_EQ(first_of(second.state_dict()["state.0.momentum_buffer"]), 1);
}

TEST(Optimizer, RefusesAStateThatDoesNotFit) {
  const Tensor w = leaf({2}), b = leaf({1});
  Adam adam(NamedTensors{{"w", w}, {"b", b}});
  for (const Tensor& t : {w, b}) t.mutable_grad() = ones_like(t.detach());
  adam.step();
  const NamedTensors good = adam.state_dict();
  std::vector<NamedTensors::Entry> bad;
  for (const auto& [name, t] : good) {
    if (name == "state.w.step" || name == "param_groups.0.eps") continue;
    bad.emplace_back(name, name == "state.b.exp_avg" ? ones({3}) : t * 2);
  }
  bad.emplace_back("state.c.step", ones({}));
  bad.emplace_back("param_groups.1.lr", ones({}));
  SY_EXPECT_ERROR(
      adam.load_state_dict(NamedTensors(bad)), ValueError,
      "[Adam] load_state_dict: missing param_groups.0.eps, state.w.step; "
      "unexpected param_groups.1.lr, state.c.step; misshapen state.b.exp_avg "
      "(expected [1], got [3])");
  for (const auto& [name, t] : adam.state_dict()) {
    EXPECT_TRUE(equal(t, good[name])) << name;
  }
  std::vector<NamedTensors::Entry> negative;
  for (const auto& [name, t] : good) {
    negative.emplace_back(name, name == "param_groups.0.lr" ? t - 1 : t);
  }
  SY_EXPECT_ERROR(adam.load_state_dict(NamedTensors(negative)), ValueError,
                  "[Adam] load_state_dict: param_groups.0.lr: expected at "
                  "least 0, got -0.999");
  EXPECT_EQ(adam.param_groups()[0].options().get_lr(), 1e-3);
}

TEST(Optimizer, LbfgsRefusesAStateThatDoesNotFit) {
  const std::vector<Tensor> p = parameters("LBFGS", kDouble);
  LBFGS a(p);
  take_step(a, "LBFGS", p, 0);
  LBFGS b({leaf({2})});
  SY_EXPECT_ERROR(b.load_state_dict(a.state_dict()), ValueError,
                  "[LBFGS] load_state_dict: misshapen state.0.d (expected "
                  "[2], got [19]), state.0.prev_flat_grad (expected [2], got "
                  "[19])");
  EXPECT_FALSE(b.state_dict().contains("state.0.d"));
}

TEST(Optimizer, RefusesWrongParameters) {
  const Tensor w = leaf({2}), b = leaf({1});
  SY_EXPECT_ERROR(SGD(std::vector<Tensor>(), 0.1), ValueError,
                  "[SGD] param_groups[0]: expected at least one parameter, got "
                  "none");
  SY_EXPECT_ERROR(SGD(std::vector<OptimizerParamGroup>(), 0.1), ValueError,
                  "[SGD] parameters: expected at least one group, got none");
  SY_EXPECT_ERROR(SGD({w, b, w}, 0.1), ValueError,
                  "[SGD] param_groups[0] parameter 2: expected each parameter "
                  "once, but it is also 0");
  SY_EXPECT_ERROR((SGD(NamedTensors{{"w", w}, {"v", w}}, 0.1)), ValueError,
                  "[SGD] param_groups[0] parameter v: expected each parameter "
                  "once, but it is also w");
  SGD sgd(NamedTensors{{"w", w}}, 0.1);
  SY_EXPECT_ERROR(sgd.add_param_group(NamedTensors{{"x", w}}), ValueError,
                  "[SGD] param_groups[1] parameter x: expected each parameter "
                  "once, but param_groups[0] has it as w");
  SY_EXPECT_ERROR(sgd.add_param_group(NamedTensors{{"w", b}}), ValueError,
                  "[SGD] param_groups[1] parameter w: expected each name once, "
                  "got it twice");
  SY_EXPECT_ERROR(sgd.add_param_group(std::vector<Tensor>{b}), ValueError,
                  "[SGD] param_groups[1]: expected names for the parameters of "
                  "all groups or of none");
  EXPECT_EQ(sgd.param_groups().size(), 1u);
  SY_EXPECT_ERROR(Adam({w * 2}), ValueError,
                  "[Adam] param_groups[0] parameter 0: expected a leaf, got "
                  "the result of an operator");
  SY_EXPECT_ERROR(Adam({Tensor()}), ValueError,
                  "parameter 0: expected a tensor, got an undefined one");
  SY_EXPECT_ERROR(Adam({ones({2}, kLong)}), ValueError,
                  "parameter 0: expected floating point numbers, got int64");
  SY_EXPECT_ERROR(Muon({w}), ValueError,
                  "[Muon] param_groups[0] parameter 0: expected 2 dims, got "
                  "sizes [2]");
  SY_EXPECT_ERROR(LBFGS({w, leaf({1}, 1, kFloat)}), ValueError,
                  "[LBFGS] parameter 1: expected float64 on cpu like the "
                  "first, got float32[1] on cpu");
  SY_EXPECT_ERROR(LBFGS({w}).step(nullptr), ValueError,
                  "[LBFGS] step: expected a closure, got none");
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{w}, options_of(SGDOptions(0.1)));
  SY_EXPECT_ERROR(Adam(std::move(groups)), TypeError,
                  "[Adam] param_groups[0].options: expected those of Adam, got "
                  "those of SGD");
}

TEST(Optimizer, RefusesOptionsOutOfRange) {
  const std::vector<Tensor> w = {leaf({2, 2})};
  const auto expect = [&](auto make, const char* message) {
    SY_EXPECT_ERROR(make(), ValueError, message);
  };
  expect([&] { SGD(w, -1); }, "[SGD] lr: expected at least 0, got -1");
  expect([&] { SGD(w, NAN); }, "[SGD] lr: expected at least 0, got nan");
  expect([&] { SGD(w, SGDOptions(1).momentum(-0.5)); },
         "[SGD] momentum: expected at least 0, got -0.5");
  expect([&] { SGD(w, SGDOptions(1).nesterov(true)); },
         "[SGD] nesterov: expected false without momentum or with dampening, "
         "got true with momentum 0 and dampening 0");
  expect(
      [&] {
        Adam(w, AdamOptions().betas({0.9, 1}));
      },
      "[Adam] betas[1]: expected at least 0 and less than 1, got 1");
  expect([&] { AdamW(w, AdamWOptions().eps(-1)); },
         "[AdamW] eps: expected at least 0, got -1");
  expect([&] { Adagrad(w, AdagradOptions().lr_decay(-1)); },
         "[Adagrad] lr_decay: expected at least 0, got -1");
  expect([&] { RMSprop(w, RMSpropOptions().alpha(-1)); },
         "[RMSprop] alpha: expected at least 0, got -1");
  expect([&] { Adadelta(w, AdadeltaOptions().rho(1.5)); },
         "[Adadelta] rho: expected at most 1, got 1.5");
  expect([&] { Adamax(w, AdamaxOptions().weight_decay(-1)); },
         "[Adamax] weight_decay: expected at least 0, got -1");
  expect([&] { NAdam(w, NAdamOptions().momentum_decay(-1)); },
         "[NAdam] momentum_decay: expected at least 0, got -1");
  expect(
      [&] {
        RAdam(w, RAdamOptions().betas({-1, 0.9}));
      },
      "[RAdam] betas[0]: expected at least 0 and less than 1, got -1");
  expect([&] { ASGD(w, ASGDOptions().lambd(-1)); },
         "[ASGD] lambd: expected at least 0, got -1");
  expect(
      [&] {
        Rprop(w, RpropOptions().etas({0.5, 0.9}));
      },
      "[Rprop] etas: expected 0 < etas[0] < 1 < etas[1], got 0.5, 0.9");
  expect([&] { Adafactor(w, AdafactorOptions().d(0.5)); },
         "[Adafactor] d: expected at least 1, got 0.5");
  expect([&] { Muon(w, MuonOptions().adjust_lr_fn("big")); },
         "[Muon] adjust_lr_fn: expected original, match_rms_adamw or "
         "spectral_unclamped, got big");
  expect([&] { LBFGS(w, LBFGSOptions().line_search_fn("armijo")); },
         "[LBFGS] line_search_fn: expected strong_wolfe or none, got armijo");
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(w, options_of(SGDOptions(-2)));
  expect([&] { SGD(groups, 0.1); },
         "[SGD] param_groups[0].lr: expected at least 0, got -2");
}

}  // namespace
}  // namespace sy::test
