#pragma once

#include "launch_head.cuh"
#include "number.cuh"
#include "walk.cuh"

// The argument of kernels that scan (device/scan.cuh), for the host and for
// kernels.

namespace sy::cuda {

constexpr int kScanThreads = 256;
constexpr int kScanItems = 8;  // of a thread, side by side
constexpr int kScanTile = kScanThreads * kScanItems;

// `rows` scans of `length` elements, which are cut into `pieces` of `piece`.
// With more pieces than one there are three passes: the totals of pieces, the
// scan of the totals, the scan of each piece after what is before it.
struct ScanHead {
  LaunchHead head;
  const char* data;
  char* values;
  char* places;  // of scans that choose
  void* totals;  // states: [rows][pieces], or [pieces][rows] of columns
  long long rows, length, piece, pieces;
  long long step[3];  // in bytes, along the dim: of data, values, places
  int pass;           // 0: the only one; 1, 2, 3
  int lanes;          // of short rows: threads of a row, a power of two
  Walk<3> walk;       // of the rows: data, values, places
};
static_assert(sizeof(ScanHead) % 8 == 0, "numbers follow");

template <int kNumbers>
struct ScanParams : ScanHead {
  Number numbers[kNumbers];
};

}  // namespace sy::cuda
