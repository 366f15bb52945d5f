#include "frontend/optim/adam.h"

#include "frontend/optim/update.h"

namespace sy::optim {

AdamOptions::AdamOptions(double lr) { this->lr(lr); }
AdamWOptions::AdamWOptions(double lr) { this->lr(lr); }

std::vector<OptionRef> AdamOptions::list() {
  return {{"lr", &lr_},
          {"betas", &betas_},
          {"eps", &eps_},
          {"weight_decay", &weight_decay_},
          {"amsgrad", &amsgrad_},
          {"maximize", &maximize_},
          {"capturable", &capturable_},
          {"differentiable", &differentiable_},
          {"decoupled_weight_decay", &decoupled_weight_decay_}};
}

std::vector<OptionRef> AdamWOptions::list() {
  return {{"lr", &lr_},
          {"betas", &betas_},
          {"eps", &eps_},
          {"weight_decay", &weight_decay_},
          {"amsgrad", &amsgrad_},
          {"maximize", &maximize_},
          {"capturable", &capturable_},
          {"differentiable", &differentiable_}};
}

namespace {

bool decoupled(const AdamOptions& o) { return o.decoupled_weight_decay(); }
bool decoupled(const AdamWOptions&) { return true; }

template <class Options>
struct Rule final : UpdateRule {
  const Names& names() const override {
    static const Names names{{"exp_avg", "exp_avg_sq", "max_exp_avg_sq"},
                             {"step"}};
    return names;
  }
  uint32_t wanted(const OptimizerOptions& options,
                  const Tensor&) const override {
    return static_cast<const Options&>(options).amsgrad() ? 7 : 3;
  }
  // Both sides of the quotient are multiplied by sqrt(1 - beta2^t): that is a
  // pass less over the elements.
  void update(const OptimizerOptions& options, Update& u) const override {
    const auto& o = static_cast<const Options&>(options);
    const auto [beta1, beta2] = o.betas();
    Number& t = u.number(0);
    t.set(t + 1);
    const bool apart = decoupled(o);
    if (apart && o.weight_decay() != 0) {
      u.shrink(1 - u.lr() * o.weight_decay());
    }
    const int g = u.gradient(o.maximize(), apart ? 0 : o.weight_decay());
    const int m = u.state(0), v = u.state(1);
    u.lerp_(m, g, 1 - beta1);
    u.scale_(v, beta2);
    u.addcmul_(v, g, g, 1 - beta2);
    if (o.amsgrad()) u.maximum_(u.state(2), v);
    const Number correction = sqrt(1 - pow(beta2, t));
    const int divisor = u.sqrt(o.amsgrad() ? u.state(2) : v);
    u.add_(divisor, o.eps() * correction);
    u.addcdiv_(Update::kParam, m, divisor,
               -u.lr() * correction / (1 - pow(beta1, t)));
  }
};

}  // namespace

void AdamOptions::check(const OptionCheck& check) const { check.adam(*this); }
void AdamWOptions::check(const OptionCheck& check) const { check.adam(*this); }

const UpdateRule* AdamOptions::rule() const {
  static const Rule<AdamOptions> rule;
  return &rule;
}
const UpdateRule* AdamWOptions::rule() const {
  static const Rule<AdamWOptions> rule;
  return &rule;
}

}  // namespace sy::optim
