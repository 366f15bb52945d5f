#include "frontend/optim/nadam.h"

#include "frontend/optim/update.h"

namespace sy::optim {

NAdamOptions::NAdamOptions(double lr) { this->lr(lr); }

std::vector<OptionRef> NAdamOptions::list() {
  return {{"lr", &lr_},
          {"betas", &betas_},
          {"eps", &eps_},
          {"weight_decay", &weight_decay_},
          {"momentum_decay", &momentum_decay_},
          {"decoupled_weight_decay", &decoupled_weight_decay_},
          {"maximize", &maximize_},
          {"capturable", &capturable_},
          {"differentiable", &differentiable_}};
}

void NAdamOptions::check(const OptionCheck& check) const {
  check.adam(*this);
  check.at_least("momentum_decay", momentum_decay_, 0);
}

namespace {

struct Rule final : UpdateRule {
  const Names& names() const override {
    static const Names names{{"exp_avg", "exp_avg_sq"}, {"step", "mu_product"}};
    return names;
  }
  uint32_t wanted(const OptimizerOptions&, const Tensor&) const override {
    return 3;
  }
  double first_number(int k, const OptimizerOptions&) const override {
    return k == 1 ? 1 : 0;
  }
  void update(const OptimizerOptions& options, Update& u) const override {
    const auto& o = static_cast<const NAdamOptions&>(options);
    const auto [beta1, beta2] = o.betas();
    Number &t = u.number(0), &product = u.number(1);
    t.set(t + 1);
    const auto mu_at = [&](const Number& step) {
      return beta1 * (1 - 0.5 * pow(0.96, step * o.momentum_decay()));
    };
    const Number mu = mu_at(t), next = mu_at(t + 1);
    product.set(product * mu);
    const bool apart = o.decoupled_weight_decay();
    if (apart && o.weight_decay() != 0) {
      u.shrink(1 - u.lr() * o.weight_decay());
    }
    const int g = u.gradient(o.maximize(), apart ? 0 : o.weight_decay());
    const int m = u.state(0), v = u.state(1);
    u.lerp_(m, g, 1 - beta1);
    u.scale_(v, beta2);
    u.addcmul_(v, g, g, 1 - beta2);
    const int divisor = u.scaled(v, 1 / (1 - pow(beta2, t)));
    u.sqrt_(divisor);
    u.add_(divisor, o.eps());
    u.addcdiv_(Update::kParam, g, divisor, -u.lr() * (1 - mu) / (1 - product));
    u.addcdiv_(Update::kParam, m, divisor,
               -u.lr() * next / (1 - product * next));
  }
};

}  // namespace

const UpdateRule* NAdamOptions::rule() const {
  static const Rule rule;
  return &rule;
}

}  // namespace sy::optim
