#include "aten/ops/dropout.h"

#include <cmath>

#include "aten/engine/dims.h"
#include "aten/engine/guard.h"
#include "aten/operators.h"
#include "aten/ops/dropout_kernels.h"
#include "aten/ops/factory.h"

namespace sy::composite {

namespace {

// Memory for the noise, which is the same for all elements of a channel if
// `by_feature`.
Tensor noise_for(const char* op, const Tensor& input, bool by_feature) {
  if (!by_feature) return sy::empty_like(input);
  SY_CHECK(input.dim() >= 2, Value,
           "[{}] input: expected at least 2 dims, got {}", op, describe(input));
  Dims sizes(input.sizes());
  for (int64_t d = 2; d < input.dim(); ++d) sizes[d] = 1;
  return sy::empty(sizes, input.options());
}

// The factor of an input, and the shift that is added then.
struct Noise {
  Tensor factor, shift;
};

// alpha_dropout gives dropped elements the value that selu has at -inf, and
// then brings back mean 0 and variance 1.
Noise draw(const char* op, const Tensor& input, double p, bool by_feature,
           bool alpha) {
  SY_CHECK(input.is_floating_point(), Type,
           "[{}] input: expected a floating dtype, got {}", op,
           describe(input));
  Tensor kept = noise_for(op, input, by_feature);
  kept.bernoulli_(1 - p, std::nullopt);
  if (!alpha) {
    if (p < 1) kept.mul_(Scalar(1 / (1 - p)));
    return {kept, Tensor()};
  }
  constexpr double kLimit = 1.7580993408473766;
  const double scale =
      p < 1 ? 1 / std::sqrt((kLimit * kLimit * p + 1) * (1 - p)) : 0;
  const Tensor shift =
      (kept - Scalar(1)) * Scalar(kLimit * scale) + Scalar(kLimit * scale * p);
  return {kept.mul_(Scalar(scale)), shift};
}

Tensor dropped(const char* op, const Tensor& input, double p, bool train,
               bool by_feature, bool alpha) {
  if (!train || p == 0 || input.numel() == 0) return input;
  const Noise n = draw(op, input, p, by_feature, alpha);
  const Tensor scaled = input * n.factor;
  return n.shift.defined() ? scaled + n.shift : scaled;
}

Tensor& drop(const char* op, Tensor& self, double p, bool train,
             bool by_feature, bool alpha) {
  if (!train || p == 0 || self.numel() == 0) return self;
  const Noise n = draw(op, self, p, by_feature, alpha);
  self.mul_(n.factor);
  if (n.shift.defined()) self.add_(n.shift);
  return self;
}

}  // namespace

Tensor dropout(const Tensor& input, double p, bool train) {
  if (!train || p == 0 || input.numel() == 0) return input;
  Tensor kept = sy::empty_like(input);
  kept.bernoulli_(1 - p, std::nullopt);
  // None is kept at p = 1, and 0 / 0 is no factor.
  if (p < 1) kept.mul_(Scalar(1 / (1 - p)));
  return input.mul(kept);
}

std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p,
                                          std::optional<bool> train) {
  if (input.numel() == 0) return {input.clone(), sy::empty_like(input)};
  if (!train.value_or(true)) {
    return {input.clone(), sy::ones_like(input, kBool)};
  }
  SY_CHECK(input.is_floating_point(), Type,
           "[native_dropout] input: expected a floating dtype, got {}",
           describe(input));
  Tensor mask = sy::empty_like(input, kBool);
  mask.bernoulli_(1 - p, std::nullopt);
  const double scale = p == 1 ? 0 : 1 / (1 - p);
  return {sy::native_dropout_backward(input, mask, scale), mask};
}

Tensor& dropout_(Tensor& self, double p, bool train) {
  return drop("dropout_", self, p, train, false, false);
}

Tensor feature_dropout(const Tensor& input, double p, bool train) {
  return dropped("feature_dropout", input, p, train, true, false);
}

Tensor& feature_dropout_(Tensor& self, double p, bool train) {
  return drop("feature_dropout_", self, p, train, true, false);
}

Tensor alpha_dropout(const Tensor& input, double p, bool train) {
  return dropped("alpha_dropout", input, p, train, false, true);
}

Tensor& alpha_dropout_(Tensor& self, double p, bool train) {
  return drop("alpha_dropout_", self, p, train, false, true);
}

Tensor feature_alpha_dropout(const Tensor& input, double p, bool train) {
  return dropped("feature_alpha_dropout", input, p, train, true, true);
}

Tensor& feature_alpha_dropout_(Tensor& self, double p, bool train) {
  return drop("feature_alpha_dropout_", self, p, train, true, true);
}

}  // namespace sy::composite
