#pragma once

#include "launch_head.cuh"

// Arguments of the kernels of random.cu and distribution.cu, for the host and
// for kernels.

namespace sy::cuda {

// n elements, one after the other, of the blocks of a stream from `offset` on
// (Note [Random stream] in c10/device/philox.h).
struct DrawParams {
  LaunchHead head;
  unsigned long long seed, offset;
  long long n;
  void* out;
  double low, high;          // uniform: the bounds. normal: mean, deviation
  long long from, last;      // whole numbers: the bounds
  unsigned long long count;  // how many whole numbers; 0 stands for 2^64
  // bernoulli: a probability for each element; nullptr: `low` is that of all.
  const double* chances;
};

// One number for each element of the parameters, which are in double.
struct DistributionParams {
  LaunchHead head;
  unsigned long long seed, offset;
  long long n;
  void* out;
  const double* first;   // the means; the counts
  const double* second;  // the probabilities
};

}  // namespace sy::cuda
