#include "frontend/optim/sgd.h"

#include "frontend/optim/update.h"

namespace sy::optim {

SGDOptions::SGDOptions(double lr) { this->lr(lr); }

std::vector<OptionRef> SGDOptions::list() {
  return {{"lr", &lr_},
          {"momentum", &momentum_},
          {"dampening", &dampening_},
          {"weight_decay", &weight_decay_},
          {"nesterov", &nesterov_},
          {"maximize", &maximize_},
          {"differentiable", &differentiable_}};
}

void SGDOptions::check(const OptionCheck& check) const {
  check.lr(lr_);
  check.at_least("momentum", momentum_, 0);
  check.at_least("weight_decay", weight_decay_, 0);
  if (nesterov_ && (momentum_ <= 0 || dampening_ != 0)) {
    check.failed(
        "nesterov", "false without momentum or with dampening",
        str("true with momentum {} and dampening {}", momentum_, dampening_));
  }
}

namespace {

struct Rule final : UpdateRule {
  const Names& names() const override {
    static const Names names{{"momentum_buffer"}, {}};
    return names;
  }
  uint32_t wanted(const OptimizerOptions& options,
                  const Tensor&) const override {
    return static_cast<const SGDOptions&>(options).momentum() != 0 ? 1 : 0;
  }
  void update(const OptimizerOptions& options, Update& u) const override {
    const auto& o = static_cast<const SGDOptions&>(options);
    int step = u.gradient(o.maximize(), o.weight_decay());
    if (o.momentum() != 0) {
      const int velocity = u.state(0);
      if (u.is_new(0)) {
        u.copy_(velocity, step);
      } else {
        u.scale_(velocity, o.momentum());
        u.add_(velocity, step, 1 - o.dampening());
      }
      step = o.nesterov() ? u.add(step, velocity, o.momentum()) : velocity;
    }
    u.add_(Update::kParam, step, -u.lr());
  }
};

}  // namespace

const UpdateRule* SGDOptions::rule() const {
  static const Rule rule;
  return &rule;
}

}  // namespace sy::optim
