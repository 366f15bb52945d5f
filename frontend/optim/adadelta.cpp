#include "frontend/optim/adadelta.h"

#include "frontend/optim/update.h"

namespace sy::optim {

AdadeltaOptions::AdadeltaOptions(double lr) { this->lr(lr); }

std::vector<OptionRef> AdadeltaOptions::list() {
  return {{"lr", &lr_},
          {"rho", &rho_},
          {"eps", &eps_},
          {"weight_decay", &weight_decay_},
          {"maximize", &maximize_},
          {"capturable", &capturable_},
          {"differentiable", &differentiable_}};
}

void AdadeltaOptions::check(const OptionCheck& check) const {
  check.lr(lr_);
  check.at_least("rho", rho_, 0);
  check.at_most("rho", rho_, 1);
  check.at_least("eps", eps_, 0);
  check.at_least("weight_decay", weight_decay_, 0);
}

namespace {

struct Rule final : UpdateRule {
  const Names& names() const override {
    static const Names names{{"square_avg", "acc_delta"}, {"step"}};
    return names;
  }
  uint32_t wanted(const OptimizerOptions&, const Tensor&) const override {
    return 3;
  }
  void update(const OptimizerOptions& options, Update& u) const override {
    const auto& o = static_cast<const AdadeltaOptions&>(options);
    u.number(0).set(u.number(0) + 1);
    const int g = u.gradient(o.maximize(), o.weight_decay());
    const int square = u.state(0), deltas = u.state(1);
    u.scale_(square, o.rho());
    u.addcmul_(square, g, g, 1 - o.rho());
    const int divisor = u.add(square, o.eps());
    u.sqrt_(divisor);
    const int delta = u.add(deltas, o.eps());
    u.sqrt_(delta);
    u.div_(delta, divisor);
    u.mul_(delta, g);
    u.scale_(deltas, o.rho());
    u.addcmul_(deltas, delta, delta, 1 - o.rho());
    u.add_(Update::kParam, delta, -u.lr());
  }
};

}  // namespace

const UpdateRule* AdadeltaOptions::rule() const {
  static const Rule rule;
  return &rule;
}

}  // namespace sy::optim
