#pragma once

#include "philox.cuh"

// Draws that reject candidates, as aten/contract/random_draws.h makes them: the
// same steps on the same numbers.

namespace sy::cuda {

// The even numbers in [0, 1) of one element: two in each of its blocks.
class Evens {
 public:
  __device__ Evens(uint64_t seed, uint64_t at) : seed_(seed), at_(at) {}

  __device__ double next() {
    if (taken_ % 2 == 0) block_ = philox_block(seed_, at_, taken_ / 2);
    return even_double(block_.word + 2 * (taken_++ % 2));
  }

 private:
  uint64_t seed_, at_;
  uint32_t taken_ = 0;
  PhiloxBlock block_;
};

// For small means: searches the cumulative probabilities from 0.
__device__ inline double poisson_by_search(double mean, Evens& evens) {
  const double u = evens.next();
  double chance = exp(-mean), sum = chance, k = 0;
  while (u >= sum && chance > 0) {
    k += 1;
    chance *= mean / k;
    sum += chance;
  }
  return k;
}

// Hormann's PTRS, for means from 10 on.
__device__ inline double poisson_by_rejection(double mean, Evens& evens) {
  const double root = sqrt(mean), log_mean = log(mean);
  const double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  const double log_alpha = log(1.1239 + 1.1328 / (b - 3.4));
  const double accept = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = evens.next() - 0.5, v = evens.next();
    const double us = 0.5 - fabs(u);
    const double k = floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= accept) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    const double left = log(v) + log_alpha - log(a / (us * us) + b);
    if (left <= k * log_mean - mean - lgamma(k + 1)) return k;
  }
}

__device__ inline double draw_poisson(double mean, Evens& evens) {
  if (mean == 0) return 0;
  return mean < 10 ? poisson_by_search(mean, evens)
                   : poisson_by_rejection(mean, evens);
}

__device__ inline double binomial_by_search(double n, double p, Evens& evens) {
  const double u = evens.next(), odds = p / (1 - p);
  double chance = exp(n * log1p(-p)), sum = chance, k = 0;
  while (u >= sum && k < n) {
    k += 1;
    chance *= odds * (n - k + 1) / k;
    sum += chance;
  }
  return k;
}

// Hormann's BTRS, for n * p from 10 on and p up to 0.5.
__device__ inline double binomial_by_rejection(double n, double p,
                                               Evens& evens) {
  const double deviation = sqrt(n * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p, c = n * p + 0.5;
  const double alpha = (2.83 + 5.1 / b) * deviation;
  const double accept = 0.92 - 4.2 / b;
  const double log_odds = log(p / (1 - p));
  const double mode = floor((n + 1) * p);
  const double at_mode = lgamma(mode + 1) + lgamma(n - mode + 1);
  for (;;) {
    const double u = evens.next() - 0.5, v = evens.next();
    const double us = 0.5 - fabs(u);
    const double k = floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= accept) return k;
    if (k < 0 || k > n) continue;
    const double left = log(v * alpha / (a / (us * us) + b));
    if (left <=
        at_mode - lgamma(k + 1) - lgamma(n - k + 1) + (k - mode) * log_odds) {
      return k;
    }
  }
}

__device__ inline double draw_binomial(double n, double p, Evens& evens) {
  const bool more = p > 0.5;
  const double q = more ? 1 - p : p;
  double k = 0;
  if (q != 0 && n != 0) {
    k = n * q < 10 ? binomial_by_search(n, q, evens)
                   : binomial_by_rejection(n, q, evens);
  }
  return more ? n - k : k;
}

}  // namespace sy::cuda
