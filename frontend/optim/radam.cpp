#include "frontend/optim/radam.h"

#include "frontend/optim/update.h"

namespace sy::optim {

RAdamOptions::RAdamOptions(double lr) { this->lr(lr); }

std::vector<OptionRef> RAdamOptions::list() {
  return {{"lr", &lr_},
          {"betas", &betas_},
          {"eps", &eps_},
          {"weight_decay", &weight_decay_},
          {"decoupled_weight_decay", &decoupled_weight_decay_},
          {"maximize", &maximize_},
          {"capturable", &capturable_},
          {"differentiable", &differentiable_}};
}

void RAdamOptions::check(const OptionCheck& check) const { check.adam(*this); }

namespace {

struct Rule final : UpdateRule {
  const Names& names() const override {
    static const Names names{{"exp_avg", "exp_avg_sq"}, {"step"}};
    return names;
  }
  uint32_t wanted(const OptimizerOptions&, const Tensor&) const override {
    return 3;
  }
  void update(const OptimizerOptions& options, Update& u) const override {
    const auto& o = static_cast<const RAdamOptions&>(options);
    const auto [beta1, beta2] = o.betas();
    Number& t = u.number(0);
    t.set(t + 1);
    const bool apart = o.decoupled_weight_decay();
    if (apart && o.weight_decay() != 0) {
      u.shrink(1 - u.lr() * o.weight_decay());
    }
    const int g = u.gradient(o.maximize(), apart ? 0 : o.weight_decay());
    const int m = u.state(0), v = u.state(1);
    u.lerp_(m, g, 1 - beta1);
    u.scale_(v, beta2);
    u.addcmul_(v, g, g, 1 - beta2);
    const Number left = 1 - pow(beta2, t);
    const Number scale = -u.lr() / (1 - pow(beta1, t));
    const double rho_end = 2 / (1 - beta2) - 1;
    const Number rho = rho_end - 2 * t * pow(beta2, t) / left;
    const Number rectified = sqrt((rho - 4) * (rho - 2) * rho_end /
                                  ((rho_end - 4) * (rho_end - 2) * rho) * left);
    if (rho.is_tensor()) {
      // Whether the variance is known well enough is not known here: with
      // weight 0, the quotient becomes m itself.
      const Number known = where_greater(rho, kEnough, 1, 0);
      const int divisor = u.sqrt(v);
      u.add_(divisor, o.eps());
      u.scale_(divisor, known);
      u.add_(divisor, 1 - known);
      const Number factor = where_greater(rho, kEnough, rectified, 1);
      u.addcdiv_(Update::kParam, m, divisor, scale * factor);
    } else if (rho.known() > kEnough) {
      const int divisor = u.sqrt(v);
      u.add_(divisor, o.eps());
      u.addcdiv_(Update::kParam, m, divisor, scale * rectified);
    } else {
      u.add_(Update::kParam, m, scale);
    }
  }

 private:
  static constexpr double kEnough = 5;
};

}  // namespace

const UpdateRule* RAdamOptions::rule() const {
  static const Rule rule;
  return &rule;
}

}  // namespace sy::optim
