#include "frontend/optim/asgd.h"

#include "frontend/optim/update.h"

namespace sy::optim {

ASGDOptions::ASGDOptions(double lr) { this->lr(lr); }

std::vector<OptionRef> ASGDOptions::list() {
  return {{"lr", &lr_},
          {"lambd", &lambd_},
          {"alpha", &alpha_},
          {"t0", &t0_},
          {"weight_decay", &weight_decay_},
          {"maximize", &maximize_},
          {"capturable", &capturable_},
          {"differentiable", &differentiable_}};
}

void ASGDOptions::check(const OptionCheck& check) const {
  check.lr(lr_);
  check.at_least("lambd", lambd_, 0);
  check.at_least("alpha", alpha_, 0);
  check.at_least("weight_decay", weight_decay_, 0);
}

namespace {

enum Numbers { kStep, kEta, kMu };

struct Rule final : UpdateRule {
  const Names& names() const override {
    static const Names names{{"ax"}, {"step", "eta", "mu"}};
    return names;
  }
  uint32_t wanted(const OptimizerOptions&, const Tensor&) const override {
    return 1;
  }
  double first_number(int k, const OptimizerOptions& options) const override {
    return k == kEta ? options.get_lr() : k == kMu ? 1 : 0;
  }
  void update(const OptimizerOptions& options, Update& u) const override {
    const auto& o = static_cast<const ASGDOptions&>(options);
    Number &t = u.number(kStep), &eta = u.number(kEta), &mu = u.number(kMu);
    t.set(t + 1);
    const int g = u.gradient(o.maximize(), o.weight_decay());
    u.shrink(1 - o.lambd() * eta);
    u.add_(Update::kParam, g, -eta);
    const int average = u.state(0);
    if (!mu.is_tensor() && mu.known() == 1) {
      u.copy_(average, Update::kParam);
    } else {
      const int way = u.add(Update::kParam, average, -1);
      u.add_(average, way, mu);
    }
    // The calls above read the numbers of this step.
    u.run();
    eta.set(u.lr() / pow(1 + o.lambd() * u.lr() * t, o.alpha()));
    mu.set(1 / max(t - o.t0(), 1));
  }
};

}  // namespace

const UpdateRule* ASGDOptions::rule() const {
  static const Rule rule;
  return &rule;
}

}  // namespace sy::optim
