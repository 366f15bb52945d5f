#pragma once

#include <cmath>

// Draws numbers of a distribution from uniform ones. Every backend draws the
// same numbers from the same stream. `evens.next()` returns the next uniform
// number in [0, 1), with 53 bits.

namespace sy {

namespace detail {

// For small means: searches the cumulative probabilities from 0.
template <class Evens>
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
template <class Evens>
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

template <class Evens>
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
// BTRS, for n * p from 10 on and p up to 0.5.
template <class Evens>
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

}  // namespace detail

template <class Evens>
double draw_poisson(double mean, Evens& evens) {
  if (mean == 0) return 0;
  return mean < 10 ? detail::poisson_by_search(mean, evens)
                   : detail::poisson_by_rejection(mean, evens);
}

template <class Evens>
double draw_binomial(double n, double p, Evens& evens) {
  if (p > 0.5) return n - draw_binomial(n, 1 - p, evens);
  if (p == 0 || n == 0) return 0;
  return n * p < 10 ? detail::binomial_by_search(n, p, evens)
                    : detail::binomial_by_rejection(n, p, evens);
}

}  // namespace sy
