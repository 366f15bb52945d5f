#include <bit>
#include <string>

#include "aten/engine/structured.h"
#include "aten/engine/view.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/device/random_params.cuh"
#include "backends/cuda/print/body.h"
#include "backends/cuda/random.h"
#include "backends/cuda/runtime/errors.h"
#include "backends/cuda/runtime/launch.h"

// Poisson and binomial numbers: those of the CPU, up to the last bits of the
// logarithms by which candidates are accepted.

namespace sy::cuda {

namespace {

Tensor in_double(const Tensor& t) { return t.to(kDouble).contiguous(); }

Tensor drawn(const char* op, const char* name, const Tensor& like,
             IntArrayRef sizes, const Tensor& first, const Tensor& second,
             const std::optional<Generator>& generator) {
  const Tensor out = new_result(like, sizes, like.scalar_type());
  const int device = like.device().index();
  // Each element has a block.
  const GeneratorImpl::Range range =
      reserve_words(op, generator, like.device(), 4 * out.numel());
  if (out.numel() == 0) return out;
  const Define define[] = {
      {"SY_ELEMENT", print::element_name(like.scalar_type())}};
  DistributionParams p = {};
  p.seed = range.seed;
  p.offset = range.offset;
  p.n = out.numel();
  p.out = out.raw_data();
  p.first = static_cast<const double*>(first.raw_data());
  p.second = second.defined() ? static_cast<const double*>(second.raw_data())
                              : nullptr;
  launch(device, kernel(device, "distribution.cu", name, define),
         shape_for(p.n, 256, 1, 1 << 16), p, {&out, &first, &second});
  return out;
}

std::string describe_mean(int, int64_t value, int64_t) {
  return str("expected finite means that are not negative, got {}",
             std::bit_cast<double>(value));
}
std::string describe_count(int, int64_t value, int64_t) {
  return str("expected finite numbers that are not negative, got {}",
             std::bit_cast<double>(value));
}

}  // namespace

Tensor poisson(const Tensor& self, std::optional<Generator> generator) {
  [[maybe_unused]] static const bool once =
      (describe_values("aten::poisson", &describe_mean), true);
  return drawn("poisson", "draw_poisson_numbers", self, self.sizes(),
               in_double(self), Tensor(), generator);
}

Tensor binomial(const Tensor& count, const Tensor& prob,
                std::optional<Generator> generator) {
  [[maybe_unused]] static const bool once =
      (describe_values("aten::binomial", &describe_count), true);
  const Dims sizes = broadcast_sizes("binomial", count.sizes(), prob.sizes());
  return drawn("binomial", "draw_binomial_numbers", count, sizes,
               in_double(count.expand(sizes)), in_double(prob.expand(sizes)),
               generator);
}

}  // namespace sy::cuda
