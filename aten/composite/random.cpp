// Ones and zeros by chance, made of even numbers: for backends that have no
// kernels of their own for them. They are those of the CPU: it takes as many
// words of the stream for each.

#include "aten/operators.h"
#include "aten/ops/comparison.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/random_kernels.h"

namespace sy::composite {

namespace {

Tensor evens_like(const Tensor& t, const std::optional<Generator>& generator) {
  return sy::empty(t.sizes(), t.options().dtype(kDouble))
      .uniform_(0, 1, generator);
}

}  // namespace

Tensor bernoulli_by_uniform(const Tensor& self,
                            std::optional<Generator> generator) {
  const Tensor inside = sy::logical_and(self >= 0, self <= 1);
  SY_CHECK(inside.all().item<bool>(), Value,
           "[bernoulli] self: expected probabilities in [0, 1]");
  return (evens_like(self, generator) < self.to(kDouble))
      .to(self.scalar_type());
}

Tensor& bernoulli_float_by_uniform(Tensor& self, double p,
                                   std::optional<Generator> generator) {
  sy::_copy_from(evens_like(self, generator) < p, self);
  return self;
}

}  // namespace sy::composite
