#include "frontend/optim/adafactor.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "aten/ops/arithmetic.h"
#include "aten/ops/factory.h"
#include "aten/ops/linalg.h"
#include "aten/ops/norm.h"
#include "frontend/optim/update.h"

namespace sy::optim {

AdafactorOptions::AdafactorOptions(double lr) { this->lr(lr); }

std::vector<OptionRef> AdafactorOptions::list() {
  return {
      {"lr", &lr_}, {"beta2_decay", &beta2_decay_},   {"eps", &eps_},
      {"d", &d_},   {"weight_decay", &weight_decay_}, {"maximize", &maximize_}};
}

void AdafactorOptions::check(const OptionCheck& check) const {
  check.lr(lr_);
  check.at_most("beta2_decay", beta2_decay_, 0);
  const auto& [first, second] = eps_;
  if (first) check.at_least("eps[0]", *first, 0);
  check.at_least("eps[1]", second, 0);
  check.at_least("d", d_, 1);
  check.at_least("weight_decay", weight_decay_, 0);
}

namespace {

enum State { kRowVar, kColVar, kVariance };

double epsilon_of(ScalarType dtype) {
  return dtype == kDouble  ? std::numeric_limits<double>::epsilon()
         : dtype == kFloat ? std::numeric_limits<float>::epsilon()
         : dtype == kHalf  ? 0x1p-10
                           : 0x1p-7;
}

// The root of the mean square, as a tensor of no dims.
Tensor rms(const Tensor& t) {
  const auto n = static_cast<double>(std::max<int64_t>(t.numel(), 1));
  return t.norm(2).div(std::sqrt(n));
}

Tensor mean_square(const Tensor& t, int64_t dim) {
  return linalg_vector_norm(t, 2, dim, true)
      .square()
      .div(static_cast<double>(t.size(dim)));
}

struct Rule final : UpdateRule {
  const Names& names() const override {
    static const Names names{{"row_var", "col_var", "variance"}, {"step"}};
    return names;
  }
  uint32_t wanted(const OptimizerOptions&, const Tensor& p) const override {
    return p.dim() > 1 ? 3 : 4;
  }
  Tensor make_state(int kind, const OptimizerOptions&,
                    const Tensor& param) const override {
    if (kind == kVariance) return zeros_like(param.detach());
    std::vector<int64_t> sizes = param.sizes().vec();
    sizes[sizes.size() - (kind == kRowVar ? 1 : 2)] = 1;
    return zeros(sizes, param.options());
  }
  // Norms stay on the device: nothing waits for them.
  void update(const OptimizerOptions& options, Update& u) const override {
    const auto& o = static_cast<const AdafactorOptions&>(options);
    Number& t = u.number(0);
    t.set(t + 1);
    const Number weight = pow(t, o.beta2_decay());
    const Number root = 1 / sqrt(t);
    Bucket& b = u.bucket();
    for (size_t i = 0; i < b.params.size(); ++i) {
      const Tensor& p = b.params[i];
      const double eps =
          std::get<0>(o.eps()).value_or(epsilon_of(p.scalar_type()));
      const Tensor g = o.maximize() ? b.grads[i].neg() : b.grads[i];
      const Tensor scale = rms(p).clamp_min(std::get<1>(o.eps()));
      scale_by(scale, least(u.lr(), root));
      if (o.weight_decay() != 0) scale_by(p, 1 - u.lr() * o.weight_decay());
      Tensor variance;
      if (p.dim() > 1) {
        const Tensor &rows = b.states[kRowVar][i],
                     &columns = b.states[kColVar][i];
        lerp(rows, mean_square(g, -1), weight);
        lerp(columns, mean_square(g, -2), weight);
        variance = rows.matmul(columns).div(rows.mean(-2, true).clamp_min(eps));
      } else {
        lerp(b.states[kVariance][i], g.square(), weight);
        variance = b.states[kVariance][i];
      }
      const Tensor update = variance.clamp_min(eps * eps).rsqrt().mul(g);
      const Tensor size = rms(update).div(o.d()).clamp_min(1);
      p.sub_(update.mul(scale.div(size)));
    }
  }

 private:
  static void scale_by(const Tensor& t, const Number& factor) {
    if (factor.is_tensor()) {
      t.mul_(factor.tensor());
    } else {
      t.mul_(factor.known());
    }
  }
  static void lerp(const Tensor& t, const Tensor& end, const Number& weight) {
    if (weight.is_tensor()) {
      t.lerp_(end, weight.tensor().to(t.scalar_type()));
    } else {
      t.lerp_(end, weight.known());
    }
  }
  static Number least(const Number& a, const Number& b) {
    return a - max(a - b, 0);
  }
};

}  // namespace

const UpdateRule* AdafactorOptions::rule() const {
  static const Rule rule;
  return &rule;
}

}  // namespace sy::optim
