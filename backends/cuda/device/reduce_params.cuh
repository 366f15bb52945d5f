#pragma once

#include "launch_head.cuh"
#include "number.cuh"
#include "walk.cuh"

// The argument of kernels that reduce (device/reduce.cuh), for the host and for
// kernels.

namespace sy::cuda {

constexpr int kMaxAccumulators = 8;
constexpr int kMaxReduceResults = 4;
constexpr int kReduceThreads = 256;

// A result is made of `reduced` elements, which are cut into `pieces` of
// `piece`. With more pieces than one, a first pass leaves accumulators in
// planes, each [pieces][results], and a second one combines these.
struct ReduceHead {
  LaunchHead head;
  const char* data;
  void* planes[kMaxAccumulators];
  void* results[kMaxReduceResults];
  long long kept, reduced, piece, pieces;
  // A power of two. For rows: the threads of a result. For columns: results
  // side by side.
  int lanes;
  // Results are made and stored; else accumulators.
  int finish;
  // For rows: the elements of a result lie together. For columns: results do,
  // in whole vectors of 16 bytes.
  int wide;
  int reserved;
  Walk<1> keep, reduce;
};
static_assert(sizeof(ReduceHead) % 8 == 0, "numbers follow");

// The numbers of map, combine and finish, then the accumulators of no elements.
template <int kNumbers>
struct ReduceParams : ReduceHead {
  Number numbers[kNumbers];
};

}  // namespace sy::cuda
