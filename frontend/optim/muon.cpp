#include "frontend/optim/muon.h"

#include <algorithm>
#include <cmath>

#include "aten/ops/copy.h"
#include "aten/ops/foreach.h"
#include "aten/ops/foreach_arithmetic.h"
#include "aten/ops/linalg.h"
#include "aten/ops/norm.h"
#include "frontend/optim/update.h"

namespace sy::optim {

MuonOptions::MuonOptions(double lr) { this->lr(lr); }

std::vector<OptionRef> MuonOptions::list() {
  return {{"lr", &lr_},
          {"weight_decay", &weight_decay_},
          {"momentum", &momentum_},
          {"nesterov", &nesterov_},
          {"ns_coefficients", &ns_coefficients_},
          {"eps", &eps_},
          {"ns_steps", &ns_steps_},
          {"adjust_lr_fn", &adjust_lr_fn_}};
}

void MuonOptions::check(const OptionCheck& check) const {
  check.lr(lr_);
  check.at_least("momentum", momentum_, 0);
  check.at_least("weight_decay", weight_decay_, 0);
  if (ns_steps_ < 0 || ns_steps_ >= 100) {
    check.failed("ns_steps", "0 to 99", std::to_string(ns_steps_));
  }
  const std::string rule = adjust_lr_fn_.value_or("original");
  if (rule != "original" && rule != "match_rms_adamw" &&
      rule != "spectral_unclamped") {
    check.failed("adjust_lr_fn",
                 "original, match_rms_adamw or spectral_unclamped", rule);
  }
}

void MuonOptions::check_parameter(const Tensor& parameter,
                                  const std::string& where) const {
  SY_CHECK(parameter.dim() == 2, Value, "{}: expected 2 dims, got sizes {}",
           where, parameter.sizes());
}

namespace {

// Singular values go to about 1. The wide side is the second, so that the
// products are small.
Tensor orthogonal(const Tensor& matrix, const MuonOptions& o) {
  const auto [a, b, c] = o.ns_coefficients();
  const bool tall = matrix.size(0) > matrix.size(1);
  Tensor x = matrix.to(kBFloat16);
  if (tall) x = x.t();
  x = x.div(x.norm().clamp_min(o.eps()));
  for (int64_t i = 0; i < o.ns_steps(); ++i) {
    const Tensor gram = x.mm(x.t());
    const Tensor factor = addmm(gram, gram, gram, b, c);
    x = addmm(x, factor, x, a, 1);
  }
  return tall ? x.t() : x;
}

double factor_of(const std::optional<std::string>& rule, IntArrayRef sizes) {
  const auto rows = static_cast<double>(sizes[0]);
  const auto columns = static_cast<double>(sizes[1]);
  if (rule == "match_rms_adamw")
    return 0.2 * std::sqrt(std::max(rows, columns));
  if (rule == "spectral_unclamped") return std::sqrt(rows / columns);
  return std::sqrt(std::max(1.0, rows / columns));
}

struct Rule final : UpdateRule {
  const Names& names() const override {
    static const Names names{{"momentum_buffer"}, {}};
    return names;
  }
  uint32_t wanted(const OptimizerOptions&, const Tensor&) const override {
    return 1;
  }
  void update(const OptimizerOptions& options, Update& u) const override {
    const auto& o = static_cast<const MuonOptions&>(options);
    Bucket& b = u.bucket();
    _foreach_lerp_(b.states[0], b.grads, 1 - o.momentum());
    std::vector<Tensor> steps =
        o.nesterov() ? _foreach_lerp(b.grads, b.states[0], o.momentum())
                     : b.states[0];
    for (size_t i = 0; i < steps.size(); ++i) {
      const double factor = factor_of(o.adjust_lr_fn(), b.params[i].sizes());
      steps[i] =
          orthogonal(steps[i], o).to(b.params[i].scalar_type()).mul(factor);
    }
    if (u.lr().is_tensor()) {
      const Tensor& lr = u.lr().tensor();
      _foreach_mul_(b.params, (1 - u.lr() * o.weight_decay()).tensor());
      _foreach_add_(b.params, _foreach_mul(steps, lr), -1);
    } else {
      const double lr = u.lr().known();
      _foreach_mul_(b.params, 1 - lr * o.weight_decay());
      _foreach_add_(b.params, steps, -lr);
    }
  }
};

}  // namespace

const UpdateRule* MuonOptions::rule() const {
  static const Rule rule;
  return &rule;
}

}  // namespace sy::optim
