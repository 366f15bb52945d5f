#include "frontend/optim/rprop.h"

#include "aten/ops/comparison.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/foreach.h"
#include "aten/ops/foreach_arithmetic.h"
#include "aten/ops/indexing.h"
#include "frontend/optim/update.h"

namespace sy::optim {

RpropOptions::RpropOptions(double lr) { this->lr(lr); }

std::vector<OptionRef> RpropOptions::list() {
  return {{"lr", &lr_},
          {"etas", &etas_},
          {"step_sizes", &step_sizes_},
          {"maximize", &maximize_},
          {"capturable", &capturable_},
          {"differentiable", &differentiable_}};
}

void RpropOptions::check(const OptionCheck& check) const {
  check.lr(lr_);
  const auto [minus, plus] = etas_;
  if (!(0 < minus && minus < 1 && 1 < plus)) {
    check.failed("etas", "0 < etas[0] < 1 < etas[1]",
                 str("{}, {}", minus, plus));
  }
}

namespace {

struct Rule final : UpdateRule {
  const Names& names() const override {
    static const Names names{{"prev", "step_size"}, {"step"}};
    return names;
  }
  uint32_t wanted(const OptimizerOptions&, const Tensor&) const override {
    return 3;
  }
  Tensor make_state(int kind, const OptimizerOptions& options,
                    const Tensor& param) const override {
    return full_like(param.detach(), kind == 1 ? options.get_lr() : 0);
  }
  void update(const OptimizerOptions& options, Update& u) const override {
    const auto& o = static_cast<const RpropOptions&>(options);
    u.number(0).set(u.number(0) + 1);
    Bucket& b = u.bucket();
    std::vector<Tensor> grads = o.maximize() ? _foreach_neg(b.grads) : b.grads;
    const std::vector<Tensor> products = _foreach_mul(grads, b.states[0]);
    std::vector<Tensor> factors;
    for (size_t i = 0; i < grads.size(); ++i) {
      const Tensor &p = products[i], turned = p.lt(0);
      factors.push_back(ones_like(p)
                            .masked_fill(p.gt(0), std::get<1>(o.etas()))
                            .masked_fill(turned, std::get<0>(o.etas())));
      grads[i] = grads[i].masked_fill(turned, 0);
    }
    // Fresh, since a graph may keep the steps before.
    std::vector<Tensor> steps = _foreach_mul(b.states[1], factors);
    steps = _foreach_clamp_min(steps, std::get<0>(o.step_sizes()));
    steps = _foreach_clamp_max(steps, std::get<1>(o.step_sizes()));
    _foreach_addcmul_(b.params, _foreach_sign(grads), steps, -1);
    if (b.differentiable) {
      b.states = {std::move(grads), std::move(steps)};
    } else {
      _foreach_copy_(b.states[0], grads);
      _foreach_copy_(b.states[1], steps);
    }
  }
};

}  // namespace

const UpdateRule* RpropOptions::rule() const {
  static const Rule rule;
  return &rule;
}

}  // namespace sy::optim
