#include "frontend/optim/adagrad.h"

#include "aten/ops/factory.h"
#include "frontend/optim/update.h"

namespace sy::optim {

AdagradOptions::AdagradOptions(double lr) { this->lr(lr); }

std::vector<OptionRef> AdagradOptions::list() {
  return {{"lr", &lr_},
          {"lr_decay", &lr_decay_},
          {"weight_decay", &weight_decay_},
          {"initial_accumulator_value", &initial_accumulator_value_},
          {"eps", &eps_},
          {"maximize", &maximize_},
          {"differentiable", &differentiable_}};
}

void AdagradOptions::check(const OptionCheck& check) const {
  check.lr(lr_);
  check.at_least("lr_decay", lr_decay_, 0);
  check.at_least("weight_decay", weight_decay_, 0);
  check.at_least("initial_accumulator_value", initial_accumulator_value_, 0);
  check.at_least("eps", eps_, 0);
}

namespace {

struct Rule final : UpdateRule {
  const Names& names() const override {
    static const Names names{{"sum"}, {"step"}};
    return names;
  }
  uint32_t wanted(const OptimizerOptions&, const Tensor&) const override {
    return 1;
  }
  Tensor make_state(int, const OptimizerOptions& options,
                    const Tensor& param) const override {
    const auto& o = static_cast<const AdagradOptions&>(options);
    return full_like(param.detach(), o.initial_accumulator_value());
  }
  void update(const OptimizerOptions& options, Update& u) const override {
    const auto& o = static_cast<const AdagradOptions&>(options);
    Number& t = u.number(0);
    t.set(t + 1);
    const int g = u.gradient(o.maximize(), o.weight_decay());
    u.addcmul_(u.state(0), g, g, 1);
    const int divisor = u.sqrt(u.state(0));
    u.add_(divisor, o.eps());
    const Number lr = u.lr() / (1 + (t - 1) * o.lr_decay());
    u.addcdiv_(Update::kParam, g, divisor, -lr);
  }
};

}  // namespace

const UpdateRule* AdagradOptions::rule() const {
  static const Rule rule;
  return &rule;
}

}  // namespace sy::optim
