#include <cmath>

#include "test/c10/expect_error.h"
#include "test/frontend/optim/trajectory.h"

// Schedulers, a hundred steps beside PyTorch's.

namespace sy::test {
namespace {

using namespace optim;

// A scheduler of either kind.
struct Any {
  std::shared_ptr<LRScheduler> scheduler;
  std::shared_ptr<ReduceLROnPlateau> plateau;

  void step(int i) const {
    if (scheduler != nullptr) return scheduler->step();
    plateau->step(((i * i * 31) % 97) / 97.0 - i * 0.002);
  }
  std::vector<double> get_last_lr() const {
    return scheduler ? scheduler->get_last_lr() : plateau->get_last_lr();
  }
  NamedTensors state_dict() const {
    return scheduler ? scheduler->state_dict() : plateau->state_dict();
  }
  void load_state_dict(const NamedTensors& state) const {
    if (scheduler != nullptr) return scheduler->load_state_dict(state);
    plateau->load_state_dict(state);
  }
};

template <class S, class... A>
std::shared_ptr<S> make(Optimizer& o, A&&... args) {
  return std::make_shared<S>(o, std::forward<A>(args)...);
}

// Schedulers by the names of `schedulers` of record.py. Each function has some
// of them.

using Pair = std::vector<double>;

Any plain_scheduler(const std::string& name, Optimizer& o) {
  const auto is = [&](const char* other) { return name == other; };
  if (is("LambdaLR")) {
    return {make<LambdaLR>(o, [](int64_t e) { return std::pow(0.95, e); }), {}};
  }
  if (is("MultiplicativeLR")) {
    return {make<MultiplicativeLR>(
                o, [](int64_t e) { return 0.9 + 0.001 * double(e); }),
            {}};
  }
  if (is("StepLR")) return {make<StepLR>(o, 7, 0.7), {}};
  if (is("MultiStepLR")) {
    return {make<MultiStepLR>(o, std::vector<int64_t>{30, 5, 5, 60}, 0.5), {}};
  }
  if (is("ConstantLR")) return {make<ConstantLR>(o, 0.25, 9), {}};
  if (is("LinearLR")) return {make<LinearLR>(o, 0.2, 0.9, 40), {}};
  if (is("ExponentialLR")) return {make<ExponentialLR>(o, 0.97), {}};
  if (is("PolynomialLR")) return {make<PolynomialLR>(o, 60, 1.7), {}};
  if (is("CosineAnnealingLR"))
    return {make<CosineAnnealingLR>(o, 15, 0.01), {}};
  if (is("CosineAnnealingWarmRestarts")) {
    return {make<CosineAnnealingWarmRestarts>(o, 10, 1, 0.01), {}};
  }
  if (is("CosineAnnealingWarmRestarts_2")) {
    return {make<CosineAnnealingWarmRestarts>(o, 6, 2), {}};
  }
  if (is("SWALR")) return {make<SWALR>(o, 0.02, 30), {}};
  if (is("SWALR_linear")) {
    return {make<SWALR>(o, Pair{0.02, 0.3}, 12, "linear"), {}};
  }
  return {};
}

Any combined_scheduler(const std::string& name, Optimizer& o) {
  const auto is = [&](const char* other) { return name == other; };
  if (is("SequentialLR")) {
    const LRSchedulers parts = {make<LinearLR>(o, 0.1, 1.0, 8),
                                make<ExponentialLR>(o, 0.9),
                                make<CosineAnnealingLR>(o, 20)};
    return {make<SequentialLR>(o, parts, std::vector<int64_t>{10, 40}), {}};
  }
  if (is("SequentialRestarts")) {
    const LRSchedulers parts = {
        make<ConstantLR>(o, 0.5, 100),
        make<CosineAnnealingWarmRestarts>(o, 12, 2, 0.001)};
    return {make<SequentialLR>(o, parts, std::vector<int64_t>{20}), {}};
  }
  if (is("ChainedScheduler")) {
    return {std::make_shared<ChainedScheduler>(LRSchedulers{
                make<ConstantLR>(o, 0.1, 12), make<ExponentialLR>(o, 0.95)}),
            {}};
  }
  return {};
}

Any cyclic_scheduler(const std::string& name, Optimizer& o) {
  const auto is = [&](const char* other) { return name == other; };
  if (is("CyclicLR")) {
    return {make<CyclicLR>(
                o, 0.01, 0.3,
                CyclicLROptions{.step_size_up = 9, .step_size_down = 14}),
            {}};
  }
  if (is("CyclicLR_triangular2")) {
    return {make<CyclicLR>(o, Pair{0.01, 0.02}, 0.3,
                           CyclicLROptions{.step_size_up = 9,
                                           .mode = "triangular2",
                                           .base_momentum = 0.6,
                                           .max_momentum = 0.95}),
            {}};
  }
  if (is("CyclicLR_exp_range")) {
    return {make<CyclicLR>(o, 0.01, 0.3,
                           CyclicLROptions{.step_size_up = 9,
                                           .mode = "exp_range",
                                           .gamma = 0.98,
                                           .cycle_momentum = false}),
            {}};
  }
  if (is("CyclicLR_scale_fn")) {
    return {make<CyclicLR>(o, 0.01, 0.3,
                           CyclicLROptions{
                               .step_size_up = 9,
                               .scale_fn = [](double x) { return 1 / (1 + x); },
                               .scale_mode = "cycle"}),
            {}};
  }
  if (is("OneCycleLR")) {
    return {make<OneCycleLR>(o, 0.5, OneCycleLROptions{.total_steps = 101}),
            {}};
  }
  if (is("OneCycleLR_three")) {
    return {make<OneCycleLR>(o, Pair{0.5, 0.7},
                             OneCycleLROptions{.epochs = 10,
                                               .steps_per_epoch = 11,
                                               .pct_start = 0.2,
                                               .anneal_strategy = "linear",
                                               .base_momentum = 0.7,
                                               .max_momentum = 0.9,
                                               .div_factor = 10,
                                               .final_div_factor = 100,
                                               .three_phase = true}),
            {}};
  }
  return {};
}

Any plateau_scheduler(const std::string& name, Optimizer& o) {
  const auto is = [&](const char* other) { return name == other; };
  using R = ReduceLROnPlateau;
  if (is("ReduceLROnPlateau")) {
    return {{},
            make<R>(o, R::min, 0.5, 3, 0.01, R::rel, 2, Pair{0.001, 0.001})};
  }
  if (is("ReduceLROnPlateau_max")) {
    return {{}, make<R>(o, R::max, 0.7, 2, 0.05, R::abs, 0, Pair{0.01, 0.02})};
  }
  return {};
}

Any make_scheduler(const std::string& name, Optimizer& o) {
  for (const auto find : {plain_scheduler, combined_scheduler, cyclic_scheduler,
                          plateau_scheduler}) {
    Any any = find(name, o);
    if (any.scheduler || any.plateau) return any;
  }
  ADD_FAILURE() << name;
  return {};
}

template <class O, class Options>
std::unique_ptr<Optimizer> two_groups(Options defaults, Options second) {
  std::vector<OptimizerParamGroup> groups;
  for (const bool first : {true, false}) {
    groups.emplace_back(
        std::vector<Tensor>{zeros({1}, kDouble).requires_grad_()},
        std::make_unique<Options>(first ? defaults : second));
  }
  return std::make_unique<O>(std::move(groups), defaults);
}

std::unique_ptr<Optimizer> two_groups(bool adam) {
  if (adam) {
    return two_groups<Adam>(AdamOptions(0.2), AdamOptions(0.4));
  }
  return two_groups<SGD>(SGDOptions(0.2).momentum(0.5),
                         SGDOptions(0.4).momentum(0.5));
}

std::vector<double> numbers_of(Optimizer& o) {
  std::vector<double> row;
  for (const auto& g : o.param_groups()) row.push_back(g.options().get_lr());
  for (auto& g : o.param_groups()) {
    if (auto* const adam = dynamic_cast<AdamOptions*>(&g.options())) {
      row.push_back(std::get<0>(adam->betas()));
    } else {
      row.push_back(static_cast<SGDOptions&>(g.options()).momentum());
    }
  }
  return row;
}

struct Case {
  explicit Case(const std::string& text)
      : name(text.substr(10, text.rfind('/') - 10)),
        adam(text.ends_with("/adam")) {}
  std::string name;
  bool adam;
};

class Scheduler : public testing::TestWithParam<std::string> {
 protected:
  // The lr and momentum of each step, rows of PyTorch's.
  void expect_row(const Tensor& expected, int step, Optimizer& o) {
    const std::vector<double> row = numbers_of(o);
    const double* const want = expected.const_data_ptr<double>() + 4 * step;
    for (size_t k = 0; k < 4; ++k) {
      ASSERT_NEAR(row[k], want[k], 1e-12)
          << GetParam() << " step " << step << " column " << k;
    }
  }
};

TEST_P(Scheduler, IsThatOfPyTorch) {
  const Case c(GetParam());
  const auto o = two_groups(c.adam);
  const Any s = make_scheduler(c.name, *o);
  const Tensor expected = recorded()[GetParam()];
  for (int step = 0; step < 100 && !HasFatalFailure(); ++step) {
    expect_row(expected, step, *o);
    s.step(step);
    EXPECT_EQ(s.get_last_lr()[1], o->param_groups()[1].options().get_lr());
  }
}

TEST_P(Scheduler, GoesOnFromAState) {
  const Case c(GetParam());
  const auto first = two_groups(c.adam), second = two_groups(c.adam);
  const Any s = make_scheduler(c.name, *first);
  for (int step = 0; step < 43; ++step) s.step(step);
  const Any t = make_scheduler(c.name, *second);
  second->load_state_dict(first->state_dict());
  t.load_state_dict(s.state_dict());
  const Tensor expected = recorded()[GetParam()];
  for (int step = 43; step < 100 && !HasFatalFailure(); ++step) {
    expect_row(expected, step, *second);
    t.step(step);
  }
}

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto& [name, t] : recorded()) {
    if (name.starts_with("scheduler/")) names.push_back(name);
  }
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(10);
  for (char& ch : name) {
    if (ch == '/') ch = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(PyTorch, Scheduler, testing::ValuesIn(cases()),
                         test_name);

TEST(Schedulers, SetTheLrOfProgramsForLibtorch) {
  SGD sgd({zeros({2}).requires_grad_()}, 1.0);
  StepLR scheduler(sgd, 2, 0.5);
  scheduler.step();
  EXPECT_EQ(sgd.param_groups()[0].options().get_lr(), 1.0);
  scheduler.step();
  EXPECT_EQ(sgd.param_groups()[0].options().get_lr(), 0.5);
  ReduceLROnPlateauScheduler plateau(sgd, ReduceLROnPlateauScheduler::max, 0.1,
                                     0);
  plateau.step(1);
  plateau.step(0);
  EXPECT_NEAR(sgd.param_groups()[0].options().get_lr(), 0.05, 1e-15);
}

TEST(Schedulers, WarmRestartsGoToAnEpoch) {
  SGD sgd({zeros({2}).requires_grad_()}, 1.0);
  CosineAnnealingWarmRestarts s(sgd, 2, 3);
  s.step(2.0);
  EXPECT_NEAR(s.get_last_lr()[0], 1, 1e-15);
  s.step(5.0);
  EXPECT_NEAR(s.get_last_lr()[0], 0.5, 1e-15);
  s.step(8.5);
  EXPECT_NEAR(s.get_last_lr()[0], (1 + std::cos(M_PI * 0.5 / 18)) / 2, 1e-15);
  SY_EXPECT_ERROR(s.step(-1.0), ValueError,
                  "[CosineAnnealingWarmRestarts] epoch: expected at least 0, "
                  "got -1");
}

TEST(Schedulers, OneCycleEndsAfterItsSteps) {
  SGD sgd({zeros({2}).requires_grad_()}, SGDOptions(1).momentum(0.9));
  OneCycleLR s(sgd, 1.0, {.total_steps = 3});
  for (int i = 0; i < 3; ++i) s.step();
  const double before = s.get_last_lr()[0];
  SY_EXPECT_ERROR(s.step(), ValueError,
                  "[OneCycleLR] step: expected at most 3 steps, got one more");
  EXPECT_EQ(sgd.param_groups()[0].options().get_lr(), before);
  EXPECT_EQ(s.last_epoch(), 3);
}

TEST(Schedulers, RefuseWrongArguments) {
  SGD sgd({zeros({2}).requires_grad_()}, 1.0);
  SGD other({zeros({2}).requires_grad_()}, 1.0);
  Adagrad adagrad({zeros({2}).requires_grad_()});
  SY_EXPECT_ERROR(StepLR(sgd, 0), ValueError,
                  "[StepLR] step_size: expected at least 1, got 0");
  SY_EXPECT_ERROR(ConstantLR(sgd, 2), ValueError,
                  "[ConstantLR] factor: expected 0 to 1, got 2");
  SY_EXPECT_ERROR(
      LinearLR(sgd, 0), ValueError,
      "[LinearLR] start_factor: expected more than 0 and at most 1, got 0");
  SY_EXPECT_ERROR(ExponentialLR(adagrad, 0.1, 3), ValueError,
                  "param_groups[0]: expected an initial_lr");
  SY_EXPECT_ERROR(SWALR(sgd, std::vector<double>{1, 2}), ValueError,
                  "[SWALR] swa_lr: expected 1 values, one for each group, "
                  "got 2");
  SY_EXPECT_ERROR(CyclicLR(sgd, 0.1, 1, {.mode = "square"}), ValueError,
                  "[CyclicLR] mode: expected triangular, triangular2 or "
                  "exp_range, got square");
  SY_EXPECT_ERROR(CyclicLR(adagrad, 0.1, 1), ValueError,
                  "[CyclicLR] cycle_momentum: expected false, since Adagrad "
                  "has neither momentum nor betas, got true");
  SY_EXPECT_ERROR(OneCycleLR(sgd, 1, {}), ValueError,
                  "expected total_steps, or epochs and steps_per_epoch");
  SY_EXPECT_ERROR(ReduceLROnPlateau(sgd, ReduceLROnPlateau::min, 1), ValueError,
                  "[ReduceLROnPlateau] factor: expected less than 1, got 1");
  const LRSchedulers parts = {make<StepLR>(sgd, 1), make<StepLR>(other, 1)};
  SY_EXPECT_ERROR(SequentialLR(sgd, parts, {1}), ValueError,
                  "[SequentialLR] schedulers[1]: expected one of the same "
                  "optimizer, got one of another");
  SY_EXPECT_ERROR(SequentialLR(sgd, {parts[0]}, {1}), ValueError,
                  "[SequentialLR] milestones: expected 0, one less than "
                  "schedulers, got 1");
  SY_EXPECT_ERROR(ChainedScheduler(LRSchedulers{}), ValueError,
                  "[ChainedScheduler] schedulers: expected at least one");
}

TEST(Schedulers, RefuseAnothersState) {
  SGD sgd({zeros({2}).requires_grad_()}, 1.0);
  StepLR s(sgd, 4);
  ExponentialLR e(sgd, 0.5);
  const NamedTensors before = s.state_dict();
  SY_EXPECT_ERROR(
      s.load_state_dict({{"last_epoch", zeros({2}, kLong)},
                         {"base_lrs.0", zeros({})},
                         {"last_lr.0", zeros({})},
                         {"step_count", zeros({})},
                         {"gamma", zeros({})},
                         {"other", zeros({})}}),
      ValueError,
      "[StepLR] load_state_dict: missing step_size; unexpected other; "
      "misshapen last_epoch (expected [], got [2])");
  for (const auto& [name, t] : s.state_dict()) {
    EXPECT_TRUE(equal(t, before[name])) << name;
  }
}

}  // namespace
}  // namespace sy::test
