#include "frontend/optim/adamax.h"

#include "frontend/optim/update.h"

namespace sy::optim {

AdamaxOptions::AdamaxOptions(double lr) { this->lr(lr); }

std::vector<OptionRef> AdamaxOptions::list() {
  return {{"lr", &lr_},
          {"betas", &betas_},
          {"eps", &eps_},
          {"weight_decay", &weight_decay_},
          {"maximize", &maximize_},
          {"capturable", &capturable_},
          {"differentiable", &differentiable_}};
}

void AdamaxOptions::check(const OptionCheck& check) const { check.adam(*this); }

namespace {

struct Rule final : UpdateRule {
  const Names& names() const override {
    static const Names names{{"exp_avg", "exp_inf"}, {"step"}};
    return names;
  }
  uint32_t wanted(const OptimizerOptions&, const Tensor&) const override {
    return 3;
  }
  void update(const OptimizerOptions& options, Update& u) const override {
    const auto& o = static_cast<const AdamaxOptions&>(options);
    const auto [beta1, beta2] = o.betas();
    Number& t = u.number(0);
    t.set(t + 1);
    const int g = u.gradient(o.maximize(), o.weight_decay());
    const int mean = u.state(0), norm = u.state(1);
    u.lerp_(mean, g, 1 - beta1);
    u.scale_(norm, beta2);
    const int size = u.abs(g);
    u.add_(size, o.eps());
    u.maximum_(norm, size);
    u.addcdiv_(Update::kParam, mean, norm, -u.lr() / (1 - pow(beta1, t)));
  }
};

}  // namespace

const UpdateRule* AdamaxOptions::rule() const {
  static const Rule rule;
  return &rule;
}

}  // namespace sy::optim
