#include "test/frontend/optim/trajectory.h"

// A group has the options that it sets, also to their usual values, and the
// optimizer's for the others. Varies the optimizer, the option that is set, and
// by what; never sets several options of one group, nor two groups.

namespace sy::test {
namespace {

using namespace optim;

void change(double* v) { *v = *v / 2 + 0.125; }
void change(bool* v) { *v = !*v; }
void change(int64_t* v) { *v += 3; }
void change(std::string* v) { *v += "x"; }
template <class T>
void change(std::optional<T>* v) {
  if (!v->has_value()) v->emplace();
  change(&**v);
}
template <class... T>
void change(std::tuple<T...>* v) {
  std::apply([](auto&... item) { (change(&item), ...); }, *v);
}

template <class Options>
Options with_all_changed() {
  Options o;
  for (const OptionRef& r : o.list()) {
    std::visit([](auto* v) { change(v); }, r.value);
  }
  return o;
}

// Whether option i is equal in both.
bool agree(OptimizerOptions& a, OptimizerOptions& b, size_t i) {
  const auto of_a = a.list(), of_b = b.list();
  return std::visit(
      [&](auto* v) { return *v == *std::get<decltype(v)>(of_b[i].value); },
      of_a[i].value);
}

// `set` has set the option `name` of a group to its usual value.
template <class Options>
void expect_only(const Options& set, const std::string& name) {
  Options group(set), usual, defaults = with_all_changed<Options>();
  group.inherit(defaults);
  const auto list = usual.list();
  for (size_t i = 0; i < list.size(); ++i) {
    const bool own = list[i].name == name;
    EXPECT_EQ(agree(group, usual, i), own)
        << list[i].name << " beside " << name;
    EXPECT_EQ(agree(group, defaults, i), !own)
        << list[i].name << " beside " << name;
  }
  // A group keeps its own options in another optimizer.
  Options other;
  group.inherit(other);
  for (size_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(agree(group, defaults, i), list[i].name != name);
  }
}

template <class Options, class... Setters>
void try_all(const std::vector<std::string>& names, const Setters&... set) {
  Options usual;
  const auto list = usual.list();
  ASSERT_EQ(list.size(), sizeof...(set)) << usual.optimizer();
  size_t i = 0;
  (
      [&] {
        SCOPED_TRACE(std::string(usual.optimizer()) + " " + names[i]);
        EXPECT_EQ(list[i].name, names[i]);
        Options o;
        set(o);
        expect_only(o, names[i++]);
      }(),
      ...);
  SCOPED_TRACE(usual.optimizer());
  expect_only(Options(usual.lr()), "lr");
  Options by_set_lr;
  by_set_lr.set_lr(usual.lr());
  expect_only(by_set_lr, "lr");
}

#define SET(type, option) [](type& o) { o.option(type().option()); }

TEST(GroupOptions, AreThoseThatTheGroupSets) {
  try_all<SGDOptions>({"lr", "momentum", "dampening", "weight_decay",
                       "nesterov", "maximize", "differentiable"},
                      SET(SGDOptions, lr), SET(SGDOptions, momentum),
                      SET(SGDOptions, dampening), SET(SGDOptions, weight_decay),
                      SET(SGDOptions, nesterov), SET(SGDOptions, maximize),
                      SET(SGDOptions, differentiable));
  try_all<AdamOptions>(
      {"lr", "betas", "eps", "weight_decay", "amsgrad", "maximize",
       "capturable", "differentiable", "decoupled_weight_decay"},
      SET(AdamOptions, lr), SET(AdamOptions, betas), SET(AdamOptions, eps),
      SET(AdamOptions, weight_decay), SET(AdamOptions, amsgrad),
      SET(AdamOptions, maximize), SET(AdamOptions, capturable),
      SET(AdamOptions, differentiable),
      SET(AdamOptions, decoupled_weight_decay));
  try_all<AdamWOptions>({"lr", "betas", "eps", "weight_decay", "amsgrad",
                         "maximize", "capturable", "differentiable"},
                        SET(AdamWOptions, lr), SET(AdamWOptions, betas),
                        SET(AdamWOptions, eps), SET(AdamWOptions, weight_decay),
                        SET(AdamWOptions, amsgrad), SET(AdamWOptions, maximize),
                        SET(AdamWOptions, capturable),
                        SET(AdamWOptions, differentiable));
  try_all<AdamaxOptions>(
      {"lr", "betas", "eps", "weight_decay", "maximize", "capturable",
       "differentiable"},
      SET(AdamaxOptions, lr), SET(AdamaxOptions, betas),
      SET(AdamaxOptions, eps), SET(AdamaxOptions, weight_decay),
      SET(AdamaxOptions, maximize), SET(AdamaxOptions, capturable),
      SET(AdamaxOptions, differentiable));
  try_all<NAdamOptions>(
      {"lr", "betas", "eps", "weight_decay", "momentum_decay",
       "decoupled_weight_decay", "maximize", "capturable", "differentiable"},
      SET(NAdamOptions, lr), SET(NAdamOptions, betas), SET(NAdamOptions, eps),
      SET(NAdamOptions, weight_decay), SET(NAdamOptions, momentum_decay),
      SET(NAdamOptions, decoupled_weight_decay), SET(NAdamOptions, maximize),
      SET(NAdamOptions, capturable), SET(NAdamOptions, differentiable));
  try_all<RAdamOptions>(
      {"lr", "betas", "eps", "weight_decay", "decoupled_weight_decay",
       "maximize", "capturable", "differentiable"},
      SET(RAdamOptions, lr), SET(RAdamOptions, betas), SET(RAdamOptions, eps),
      SET(RAdamOptions, weight_decay),
      SET(RAdamOptions, decoupled_weight_decay), SET(RAdamOptions, maximize),
      SET(RAdamOptions, capturable), SET(RAdamOptions, differentiable));
}

TEST(GroupOptions, AreThoseThatTheGroupSetsOfOtherOptimizers) {
  try_all<AdadeltaOptions>(
      {"lr", "rho", "eps", "weight_decay", "maximize", "capturable",
       "differentiable"},
      SET(AdadeltaOptions, lr), SET(AdadeltaOptions, rho),
      SET(AdadeltaOptions, eps), SET(AdadeltaOptions, weight_decay),
      SET(AdadeltaOptions, maximize), SET(AdadeltaOptions, capturable),
      SET(AdadeltaOptions, differentiable));
  try_all<AdafactorOptions>(
      {"lr", "beta2_decay", "eps", "d", "weight_decay", "maximize"},
      SET(AdafactorOptions, lr), SET(AdafactorOptions, beta2_decay),
      SET(AdafactorOptions, eps), SET(AdafactorOptions, d),
      SET(AdafactorOptions, weight_decay), SET(AdafactorOptions, maximize));
  try_all<AdagradOptions>(
      {"lr", "lr_decay", "weight_decay", "initial_accumulator_value", "eps",
       "maximize", "differentiable"},
      SET(AdagradOptions, lr), SET(AdagradOptions, lr_decay),
      SET(AdagradOptions, weight_decay),
      SET(AdagradOptions, initial_accumulator_value), SET(AdagradOptions, eps),
      SET(AdagradOptions, maximize), SET(AdagradOptions, differentiable));
  try_all<ASGDOptions>({"lr", "lambd", "alpha", "t0", "weight_decay",
                        "maximize", "capturable", "differentiable"},
                       SET(ASGDOptions, lr), SET(ASGDOptions, lambd),
                       SET(ASGDOptions, alpha), SET(ASGDOptions, t0),
                       SET(ASGDOptions, weight_decay),
                       SET(ASGDOptions, maximize), SET(ASGDOptions, capturable),
                       SET(ASGDOptions, differentiable));
  try_all<LBFGSOptions>(
      {"lr", "max_iter", "max_eval", "tolerance_grad", "tolerance_change",
       "history_size", "line_search_fn", "maximize"},
      SET(LBFGSOptions, lr), SET(LBFGSOptions, max_iter),
      SET(LBFGSOptions, max_eval), SET(LBFGSOptions, tolerance_grad),
      SET(LBFGSOptions, tolerance_change), SET(LBFGSOptions, history_size),
      SET(LBFGSOptions, line_search_fn), SET(LBFGSOptions, maximize));
  try_all<MuonOptions>({"lr", "weight_decay", "momentum", "nesterov",
                        "ns_coefficients", "eps", "ns_steps", "adjust_lr_fn"},
                       SET(MuonOptions, lr), SET(MuonOptions, weight_decay),
                       SET(MuonOptions, momentum), SET(MuonOptions, nesterov),
                       SET(MuonOptions, ns_coefficients), SET(MuonOptions, eps),
                       SET(MuonOptions, ns_steps),
                       SET(MuonOptions, adjust_lr_fn));
  try_all<RMSpropOptions>(
      {"lr", "alpha", "eps", "weight_decay", "momentum", "centered", "maximize",
       "capturable", "differentiable"},
      SET(RMSpropOptions, lr), SET(RMSpropOptions, alpha),
      SET(RMSpropOptions, eps), SET(RMSpropOptions, weight_decay),
      SET(RMSpropOptions, momentum), SET(RMSpropOptions, centered),
      SET(RMSpropOptions, maximize), SET(RMSpropOptions, capturable),
      SET(RMSpropOptions, differentiable));
  try_all<RpropOptions>(
      {"lr", "etas", "step_sizes", "maximize", "capturable", "differentiable"},
      SET(RpropOptions, lr), SET(RpropOptions, etas),
      SET(RpropOptions, step_sizes), SET(RpropOptions, maximize),
      SET(RpropOptions, capturable), SET(RpropOptions, differentiable));
}

TEST(GroupOptions, LeaveBiasesWithoutDecay) {
  const Tensor w = ones({1}).requires_grad_(), b = ones({1}).requires_grad_();
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{w});
  groups.emplace_back(
      std::vector<Tensor>{b},
      std::make_unique<SGDOptions>(SGDOptions().weight_decay(0)));
  SGD sgd(groups, SGDOptions(0.1).weight_decay(0.5));
  w.mutable_grad() = zeros({1});
  b.mutable_grad() = zeros({1});
  sgd.step();
  EXPECT_FLOAT_EQ(w.detach().item<float>(), 0.95f);
  EXPECT_EQ(b.detach().item<float>(), 1);
  // The biases get no decay in an optimizer that takes the group over.
  SGD other({ones({1}).requires_grad_()}, SGDOptions(0.1).weight_decay(0.25));
  other.add_param_group(sgd.param_groups()[1]);
  EXPECT_EQ(static_cast<SGDOptions&>(other.param_groups()[1].options())
                .weight_decay(),
            0);
}

}  // namespace
}  // namespace sy::test
