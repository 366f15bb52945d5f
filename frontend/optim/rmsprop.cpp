#include "frontend/optim/rmsprop.h"

#include "frontend/optim/update.h"

namespace sy::optim {

RMSpropOptions::RMSpropOptions(double lr) { this->lr(lr); }

std::vector<OptionRef> RMSpropOptions::list() {
  return {{"lr", &lr_},
          {"alpha", &alpha_},
          {"eps", &eps_},
          {"weight_decay", &weight_decay_},
          {"momentum", &momentum_},
          {"centered", &centered_},
          {"maximize", &maximize_},
          {"capturable", &capturable_},
          {"differentiable", &differentiable_}};
}

void RMSpropOptions::check(const OptionCheck& check) const {
  check.lr(lr_);
  check.at_least("alpha", alpha_, 0);
  check.at_least("eps", eps_, 0);
  check.at_least("weight_decay", weight_decay_, 0);
  check.at_least("momentum", momentum_, 0);
}

namespace {

enum State { kSquareAvg, kMomentumBuffer, kGradAvg };

struct Rule final : UpdateRule {
  const Names& names() const override {
    static const Names names{{"square_avg", "momentum_buffer", "grad_avg"},
                             {"step"}};
    return names;
  }
  uint32_t wanted(const OptimizerOptions& options,
                  const Tensor&) const override {
    const auto& o = static_cast<const RMSpropOptions&>(options);
    return 1u | (o.momentum() > 0 ? 2u : 0u) | (o.centered() ? 4u : 0u);
  }
  void update(const OptimizerOptions& options, Update& u) const override {
    const auto& o = static_cast<const RMSpropOptions&>(options);
    u.number(0).set(u.number(0) + 1);
    const int g = u.gradient(o.maximize(), o.weight_decay());
    const int square = u.state(kSquareAvg), mean = u.state(kGradAvg);
    u.scale_(square, o.alpha());
    u.addcmul_(square, g, g, 1 - o.alpha());
    int divisor = square;
    if (o.centered()) {
      u.lerp_(mean, g, 1 - o.alpha());
      divisor = u.addcmul(square, mean, mean, -1);
    }
    divisor = u.sqrt(divisor);
    u.add_(divisor, o.eps());
    if (o.momentum() > 0) {
      const int buffer = u.state(kMomentumBuffer);
      u.scale_(buffer, o.momentum());
      u.addcdiv_(buffer, g, divisor, 1);
      u.add_(Update::kParam, buffer, -u.lr());
    } else {
      u.addcdiv_(Update::kParam, g, divisor, -u.lr());
    }
  }
};

}  // namespace

const UpdateRule* RMSpropOptions::rule() const {
  static const Rule rule;
  return &rule;
}

}  // namespace sy::optim
