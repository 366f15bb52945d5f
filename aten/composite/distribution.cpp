#include <cmath>
#include <numbers>

#include "aten/engine/dims.h"
#include "aten/engine/guard.h"
#include "aten/operators.h"
#include "aten/ops/activation.h"
#include "aten/ops/comparison.h"
#include "aten/ops/distribution.h"
#include "aten/ops/distribution_kernels.h"
#include "aten/ops/factory.h"
#include "aten/ops/histogram.h"
#include "aten/ops/random.h"
#include "aten/ops/reduction.h"
#include "aten/ops/sort.h"

namespace sy::composite {

using OptionalGenerator = std::optional<Generator>;

namespace {

// Numbers are drawn and computed in float32 where self is of a shorter dtype:
// its own would have few of them, and none far out.
Tensor wide_like(const Tensor& self) {
  const bool is_short = is_reduced_floating_type(self.scalar_type());
  return is_short ? sy::empty_like(self, self.options().dtype(kFloat))
                  : sy::empty_like(self);
}

// The least number above 0.
double least_of(ScalarType dtype) {
  return dtype == kHalf ? 0x1p-24 : 0x1p-133;
}

}  // namespace

Tensor uniform(const Tensor& self, double from, double to,
               OptionalGenerator generator) {
  return sy::empty_like(self).uniform_(from, to, generator);
}

Tensor random(const Tensor& self, OptionalGenerator generator) {
  return sy::empty_like(self).random_(generator);
}

Tensor random_to(const Tensor& self, int64_t to, OptionalGenerator generator) {
  return sy::empty_like(self).random_(to, generator);
}

Tensor random_from(const Tensor& self, int64_t from, std::optional<int64_t> to,
                   OptionalGenerator generator) {
  return sy::empty_like(self).random_(from, to, generator);
}

Tensor normal_functional(const Tensor& self, double mean, double std,
                         OptionalGenerator generator) {
  return sy::empty_like(self).normal_(mean, std, generator);
}

Tensor normal_about(const Tensor& mean, double std,
                    OptionalGenerator generator) {
  return wide_like(mean)
      .normal_(0, std, generator)
      .add_(mean)
      .to(mean.scalar_type());
}

namespace {

void check_deviations(const Tensor& std) {
  SY_CHECK(std.numel() == 0 || sy::ge(std, Scalar(0)).all().item().to_bool(),
           Value, "[normal] std: expected no negative number, got {}",
           std.min().item());
}

}  // namespace

Tensor normal_of_width(double mean, const Tensor& std,
                       OptionalGenerator generator) {
  check_deviations(std);
  return wide_like(std)
      .normal_(0, 1, generator)
      .mul_(std)
      .add_(Scalar(mean))
      .to(std.scalar_type());
}

Tensor normal_of(const Tensor& mean, const Tensor& std,
                 OptionalGenerator generator) {
  check_deviations(std);
  // The sizes, dtype and device of the sum; the noise takes its place.
  const Tensor sum = mean + std;
  return wide_like(sum)
      .normal_(0, 1, generator)
      .mul_(std)
      .add_(mean)
      .to(sum.scalar_type());
}

Tensor normal_filled(double mean, double std, IntArrayRef size,
                     OptionalGenerator generator,
                     std::optional<ScalarType> dtype,
                     std::optional<Layout> layout, std::optional<Device> device,
                     std::optional<bool> pin_memory) {
  return sy::empty(size, TensorOptions()
                             .dtype(dtype)
                             .layout(layout)
                             .device(device)
                             .pinned_memory(pin_memory))
      .normal_(mean, std, generator);
}

Tensor exponential(const Tensor& self, double lambd,
                   OptionalGenerator generator) {
  const Tensor drawn = wide_like(self)
                           .uniform_(0, 1, generator)
                           .neg_()
                           .log1p_()
                           .neg_()
                           .clamp_min_(Scalar(1e-16))
                           .div_(Scalar(lambd));
  if (drawn.scalar_type() == self.scalar_type()) return drawn;
  return drawn.clamp_min_(Scalar(least_of(self.scalar_type())))
      .to(self.scalar_type());
}

Tensor log_normal(const Tensor& self, double mean, double std,
                  OptionalGenerator generator) {
  return wide_like(self)
      .normal_(mean, std, generator)
      .exp_()
      .to(self.scalar_type());
}

Tensor cauchy(const Tensor& self, double median, double sigma,
              OptionalGenerator generator) {
  return wide_like(self)
      .uniform_(0, 1, generator)
      .sub_(Scalar(0.5))
      .mul_(Scalar(std::numbers::pi))
      .tan_()
      .mul_(Scalar(sigma))
      .add_(Scalar(median))
      .to(self.scalar_type());
}

// Draws by the inverse of 1 - (1 - p)^k, from an even number of 53 bits for any
// dtype.
Tensor geometric(const Tensor& self, double p, OptionalGenerator generator) {
  const Tensor u =
      sy::empty_like(self, TensorOptions(kDouble)).uniform_(0, 1, generator);
  return u.neg_()
      .log1p_()
      .div_(Scalar(std::log1p(-p)))
      .ceil_()
      .clamp_min_(Scalar(1))
      .to(self.scalar_type());
}

Tensor bernoulli_p(const Tensor& self, double p, OptionalGenerator generator) {
  return sy::empty_like(self).bernoulli_(p, generator);
}

Tensor bernoulli_tensor(const Tensor& self, const Tensor& p,
                        OptionalGenerator generator) {
  return sy::bernoulli(p.expand(self.sizes()).to(kDouble), generator)
      .to(self.scalar_type());
}

namespace {

void check_weights(const Tensor& w, int64_t num_samples, bool replacement) {
  SY_CHECK(w.size(-1) > 0, Value,
           "[multinomial] self: expected at least one category, got {}",
           describe(w));
  const auto all = [](const Tensor& t) { return t.all().item().to_bool(); };
  SY_CHECK(all(sy::isfinite(w)) && all(sy::ge(w, Scalar(0))), Value,
           "[multinomial] self: expected finite weights that are not negative");
  const int64_t needed = replacement ? 1 : num_samples;
  SY_CHECK(all(sy::ge(sy::ne(w, Scalar(0)).sum(-1), Scalar(needed))), Value,
           "[multinomial] self: expected at least {} weights that are not 0 in "
           "each row",
           needed);
}

}  // namespace

// Categories that are drawn once each are those of the greatest weight / e,
// where e are exponential: the first of several clocks to ring is one of that
// chance.
Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement,
                   OptionalGenerator generator) {
  if (self.numel() == 0 && self.dim() == 2 && self.size(0) == 0) {
    return sy::empty({0, num_samples}, self.options().dtype(kLong));
  }
  const Tensor weights = self.to(kDouble);
  check_weights(weights, num_samples, replacement);
  if (!replacement) {
    const Tensor clocks = sy::exponential(weights, 1, generator);
    return std::get<1>(sy::topk(weights / clocks, num_samples));
  }
  const Tensor sums = weights.cumsum(-1);
  Dims sizes(self.sizes());
  sizes[self.dim() - 1] = num_samples;
  const Tensor at =
      sy::empty(sizes, weights.options()).uniform_(0, 1, generator) *
      sums.narrow(-1, self.size(-1) - 1, 1);
  return sy::searchsorted(sums, at, false, true);
}

namespace {

// The slope if not training. In training it fills noise with the factors of the
// elements.
Scalar rrelu_slope(const Tensor& self, const Tensor& noise, const Scalar& lower,
                   const Scalar& upper, bool training,
                   OptionalGenerator generator) {
  const double low = lower.to_double(), high = upper.to_double();
  SY_CHECK(low <= high, Value,
           "[rrelu] lower: expected at most upper, {}, got {}", high, low);
  if (training) {
    noise.uniform_(low, high, generator)
        .masked_fill_(sy::le(self, Scalar(0)).logical_not_(), Scalar(1));
  }
  return Scalar((low + high) / 2);
}

}  // namespace

Tensor rrelu_with_noise(const Tensor& self, Tensor& noise, const Scalar& lower,
                        const Scalar& upper, bool training,
                        OptionalGenerator generator) {
  const Scalar slope =
      rrelu_slope(self, noise, lower, upper, training, generator);
  return training ? self * noise : sy::leaky_relu(self, slope);
}

Tensor& rrelu_with_noise_(Tensor& self, Tensor& noise, const Scalar& lower,
                          const Scalar& upper, bool training,
                          OptionalGenerator generator) {
  const Scalar slope =
      rrelu_slope(self, noise, lower, upper, training, generator);
  return training ? self.mul_(noise) : sy::leaky_relu_(self, slope);
}

std::tuple<Tensor, Tensor> rrelu_with_noise_functional(
    const Tensor& self, const Tensor& noise, const Scalar& lower,
    const Scalar& upper, bool training, OptionalGenerator generator) {
  Tensor own = noise.clone();
  Tensor result =
      sy::rrelu_with_noise(self, own, lower, upper, training, generator);
  return {std::move(result), std::move(own)};
}

Tensor rrelu(const Tensor& self, const Scalar& lower, const Scalar& upper,
             bool training, OptionalGenerator generator) {
  Tensor noise = sy::empty_like(self.detach());
  return sy::rrelu_with_noise(self, noise, lower, upper, training, generator);
}

}  // namespace sy::composite
