// Poisson and binomial numbers: a thread draws an element, from blocks of its
// own. SY_ELEMENT is the type of the results.

#include "draws.cuh"
#include "element.cuh"
#include "random_params.cuh"

#ifndef SY_ELEMENT
#define SY_ELEMENT float
#endif

using Element = SY_ELEMENT;

__device__ __forceinline__ void refuse(const LaunchHead& head, Fault fault,
                                       int argument, double value) {
  report(head, fault, argument, __builtin_bit_cast(long long, value), 0);
}

// Neither negative, nor NaN or infinite.
__device__ __forceinline__ bool is_count(double v) {
  return v >= 0 && v <= 0x1.fffffffffffffp+1023;
}

SY_KERNEL(draw_poisson_numbers, DistributionParams, 256) {
  auto* const out = static_cast<Element*>(p.out);
  for (int64_t i = first_index(); i < p.n; i += index_stride()) {
    double mean = p.first[i];
    if (!is_count(mean)) {
      refuse(p.head, Fault::kValue, 0, mean);
      mean = 0;
    }
    Evens evens(p.seed, p.offset + static_cast<uint64_t>(i));
    out[i] = element_cast<Element>(draw_poisson(mean, evens));
  }
}

SY_KERNEL(draw_binomial_numbers, DistributionParams, 256) {
  auto* const out = static_cast<Element*>(p.out);
  for (int64_t i = first_index(); i < p.n; i += index_stride()) {
    double count = p.first[i], chance = p.second[i];
    if (!is_count(count)) {
      refuse(p.head, Fault::kValue, 0, count);
      count = 0;
    }
    if (!(chance >= 0 && chance <= 1)) {
      refuse(p.head, Fault::kProbability, 1, chance);
      chance = 0;
    }
    Evens evens(p.seed, p.offset + static_cast<uint64_t>(i));
    out[i] = element_cast<Element>(draw_binomial(floor(count), chance, evens));
  }
}
