#pragma once

#include "launch_head.cuh"
#include "walk.cuh"

// Arguments of the kernels of support/compact.cu.

namespace sy::cuda {

constexpr int kCompactThreads = 256;
constexpr int kCompactRounds = 16;  // for each warp
constexpr int kCompactTile = kCompactThreads * kCompactRounds;
constexpr int kPlaceDims = 64;

// Elements are counted in row-major order. One is true if it has any of these
// bits.
struct CountTrueParams {
  LaunchHead head;
  Walk<1> walk;
  const char* mask;
  unsigned long long bits[2];
  unsigned long long* counts;  // of each tile
};

// Writes the places of the true elements, rows of `dims` numbers. `before` has
// the number of true ones before each tile.
struct WritePlacesParams {
  LaunchHead head;
  Walk<1> walk;
  const char* mask;
  unsigned long long bits[2];
  const unsigned long long* before;
  long long* to;
  long long limit;  // rows that there is room for
  int dims;
  long long sizes[kPlaceDims];
};

// Elements of `spread` where the mask (bool) is true, and the same number of
// elements in a row.
struct CompactParams {
  LaunchHead head;
  Walk<2> walk;  // mask, spread
  const char* mask;
  char* spread;
  char* row;
  const unsigned long long* before;
};

}  // namespace sy::cuda
