#include <cmath>

#include "aten/contract/random_draws.h"
#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "backends/cpu/distribution_kernels_gen.h"
#include "backends/cpu/support/random_stream.h"
#include "c10/process/parallel.h"

// Draws that reject candidates take as many words as they need: each element
// reserves one block and goes on in those that belong to it (random_stream.h),
// two numbers of 53 bits a block. No result depends on the number of threads.

namespace sy::cpu {

namespace {

// The even numbers in [0, 1) of one element.
class Evens {
 public:
  Evens(const RandomStream& stream, int64_t i)
      : stream_(stream), i_(static_cast<uint64_t>(i)) {}

  double next() {
    if (have_ == 0) {
      words_ = stream_.block(i_, block_++);
      have_ = 2;
    }
    --have_;
    return have_ == 1 ? uniform_double(words_[0], words_[1])
                      : uniform_double(words_[2], words_[3]);
  }

 private:
  const RandomStream& stream_;
  uint64_t i_;
  uint32_t block_ = 0;
  int have_ = 0;
  PhiloxBlock words_{};
};

constexpr int64_t kGrain = 1024;

// f(element, its numbers) into `out`.
template <class F>
void draw_each(const std::optional<Generator>& generator, const Tensor& out,
               const F& f) {
  const Tensor drawn(make_tensor(out.sizes(), kDouble, out.device()));
  auto* to = static_cast<double*>(drawn.raw_data());
  const int64_t n = drawn.numel();
  const RandomStream stream(generator, 4 * static_cast<uint64_t>(n));
  parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Evens evens(stream, i);
      to[i] = f(i, evens);
    }
  });
  copy_cpu(out, drawn);
}

}  // namespace

void poisson_out(const Tensor& self, std::optional<Generator> generator,
                 const Tensor& out) {
  const Tensor means = contiguous_cpu(self, kDouble);
  const auto* mean = static_cast<const double*>(means.raw_data());
  for (int64_t i = 0, n = means.numel(); i < n; ++i) {
    SY_CHECK(
        mean[i] >= 0 && std::isfinite(mean[i]), Value,
        "[poisson] self: expected finite means that are not negative, got {}",
        mean[i]);
  }
  draw_each(generator, out, [&](int64_t i, Evens& evens) {
    return draw_poisson(mean[i], evens);
  });
}

void binomial_out(const Tensor& count, const Tensor& prob,
                  std::optional<Generator> generator, const Tensor& out) {
  const Tensor counts = contiguous_cpu(count.expand(out.sizes()), kDouble);
  const Tensor chances = contiguous_cpu(prob.expand(out.sizes()), kDouble);
  const auto* n = static_cast<const double*>(counts.raw_data());
  const auto* p = static_cast<const double*>(chances.raw_data());
  for (int64_t i = 0, size = counts.numel(); i < size; ++i) {
    SY_CHECK(n[i] >= 0 && std::isfinite(n[i]), Value,
             "[binomial] count: expected finite numbers that are not negative, "
             "got {}",
             n[i]);
    SY_CHECK(p[i] >= 0 && p[i] <= 1, Value,
             "[binomial] prob: expected probabilities in [0, 1], got {}", p[i]);
  }
  draw_each(generator, out, [&](int64_t i, Evens& evens) {
    return draw_binomial(std::floor(n[i]), p[i], evens);
  });
}

}  // namespace sy::cpu
