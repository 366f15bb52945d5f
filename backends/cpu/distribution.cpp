#include <cmath>

#include "aten/copy.h"
#include "aten/dims.h"
#include "backends/cpu/distribution_kernels_gen.h"
#include "backends/cpu/random_stream.h"
#include "c10/parallel.h"

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

// Of small means: the cumulated chances are searched from 0.
double poisson_by_search(double mean, Evens& evens) {
  const double u = evens.next();
  double chance = std::exp(-mean), sum = chance, k = 0;
  while (u >= sum && chance > 0) {
    k += 1;
    chance *= mean / k;
    sum += chance;
  }
  return k;
}

// W. Hormann, "The transformed rejection method for generating Poisson random
// variables", 1993: algorithm PTRS, for means from 10 on.
double poisson_by_rejection(double mean, Evens& evens) {
  const double root = std::sqrt(mean), log_mean = std::log(mean);
  const double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  const double log_alpha = std::log(1.1239 + 1.1328 / (b - 3.4));
  const double accept = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = evens.next() - 0.5, v = evens.next();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= accept) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    const double left = std::log(v) + log_alpha - std::log(a / (us * us) + b);
    if (left <= k * log_mean - mean - std::lgamma(k + 1)) return k;
  }
}

double poisson(double mean, Evens& evens) {
  if (mean == 0) return 0;
  return mean < 10 ? poisson_by_search(mean, evens)
                   : poisson_by_rejection(mean, evens);
}

double binomial_by_search(double n, double p, Evens& evens) {
  const double u = evens.next(), odds = p / (1 - p);
  double chance = std::exp(n * std::log1p(-p)), sum = chance, k = 0;
  while (u >= sum && k < n) {
    k += 1;
    chance *= odds * (n - k + 1) / k;
    sum += chance;
  }
  return k;
}

// W. Hormann, "The generation of binomial random variates", 1993: algorithm
// BTRS, for n p from 10 on and p up to 0.5.
double binomial_by_rejection(double n, double p, Evens& evens) {
  const double deviation = std::sqrt(n * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p, c = n * p + 0.5;
  const double alpha = (2.83 + 5.1 / b) * deviation;
  const double accept = 0.92 - 4.2 / b;
  const double log_odds = std::log(p / (1 - p));
  const double mode = std::floor((n + 1) * p);
  const double at_mode = std::lgamma(mode + 1) + std::lgamma(n - mode + 1);
  for (;;) {
    const double u = evens.next() - 0.5, v = evens.next();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= accept) return k;
    if (k < 0 || k > n) continue;
    const double left = std::log(v * alpha / (a / (us * us) + b));
    if (left <= at_mode - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                    (k - mode) * log_odds) {
      return k;
    }
  }
}

double binomial(double n, double p, Evens& evens) {
  if (p > 0.5) return n - binomial(n, 1 - p, evens);
  if (p == 0 || n == 0) return 0;
  return n * p < 10 ? binomial_by_search(n, p, evens)
                    : binomial_by_rejection(n, p, evens);
}

constexpr int64_t kGrain = 1024;

// f(element, its numbers) into `out`.
template <class F>
void draw_each(const std::optional<Generator>& generator, const Tensor& out,
               const F& f) {
  const Tensor drawn(make_tensor(out.sizes(), kDouble, out.device()));
  auto* to = static_cast<double*>(drawn.data_ptr());
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
  const auto* mean = static_cast<const double*>(means.data_ptr());
  for (int64_t i = 0, n = means.numel(); i < n; ++i) {
    SY_CHECK(mean[i] >= 0 && std::isfinite(mean[i]), Value,
             "[poisson] self: expected finite means that are not negative, "
             "got ",
             mean[i]);
  }
  draw_each(generator, out,
            [&](int64_t i, Evens& evens) { return poisson(mean[i], evens); });
}

void binomial_out(const Tensor& count, const Tensor& prob,
                  std::optional<Generator> generator, const Tensor& out) {
  const Tensor counts = contiguous_cpu(count.expand(out.sizes()), kDouble);
  const Tensor chances = contiguous_cpu(prob.expand(out.sizes()), kDouble);
  const auto* n = static_cast<const double*>(counts.data_ptr());
  const auto* p = static_cast<const double*>(chances.data_ptr());
  for (int64_t i = 0, size = counts.numel(); i < size; ++i) {
    SY_CHECK(n[i] >= 0 && std::isfinite(n[i]), Value,
             "[binomial] count: expected finite numbers that are not "
             "negative, got ",
             n[i]);
    SY_CHECK(p[i] >= 0 && p[i] <= 1, Value,
             "[binomial] prob: expected probabilities in [0, 1], got ", p[i]);
  }
  draw_each(generator, out, [&](int64_t i, Evens& evens) {
    return binomial(std::floor(n[i]), p[i], evens);
  });
}

}  // namespace sy::cpu
