#pragma once

#include "launch_head.cuh"

// Arguments of the kernels of support/group.cu.

namespace sy::cuda {

// Keys that one block sorts, a digit at a time.
constexpr int kGroupDigitBits = 4, kGroupDigits = 1 << kGroupDigitBits;
constexpr int kGroupThreads = 256;
constexpr int kGroupItems = 8;  // of a thread
constexpr int kGroupMost = kGroupThreads * kGroupItems;

struct GroupParams {
  LaunchHead head;
  const unsigned long long* keys;
  unsigned long long *keys_out, *order_out;
  int n;
  int bits;  // of the keys
};

// Each number becomes the sum of those before it; one more is the sum of all.
struct SumBeforeParams {
  LaunchHead head;
  unsigned long long* counts;
  long long n;
};

}  // namespace sy::cuda
