#pragma once

// How the elements of several tensors of common sizes lie, for the host and for
// kernels (device/places.cuh).

namespace sy::cuda {

constexpr int kWalkDims = 16;

// Divides numbers below 2^31 by a number that is known before.
struct Divisor {
  unsigned divisor = 1, multiplier = 1, shift = 0;
};

// Dim 0 is the fastest. Strides are in bytes and of any sign. A walk of 2^31
// elements or more is wide: `divisors` say nothing then.
template <int kOperands>
struct Walk {
  int dims = 1;
  int wide = 0;
  long long numel = 0;
  Divisor divisors[kWalkDims];
  long long sizes[kWalkDims] = {};
  long long strides[kOperands][kWalkDims] = {};
};

}  // namespace sy::cuda
