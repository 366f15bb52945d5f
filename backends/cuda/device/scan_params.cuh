#pragma once

#include "launch_head.cuh"
#include "number.cuh"
#include "walk.cuh"

// The argument of kernels that scan (device/scan.cuh), for the host and for
// kernels.

namespace sy::cuda {

constexpr int kScanThreads = 128;
constexpr int kScanItems = 16;  // elements of a thread, side by side
constexpr int kScanTile = kScanThreads * kScanItems;
constexpr int kScanGroup = 32;  // tiles: as many as a warp looks at at once
constexpr int kScanCounterBytes = 16;

// `rows` scans of `length` elements, which are cut into `pieces` of `piece`.
// Pieces of rows are tiles, which blocks take as the counter at the start of
// `room` says; slots follow it (device/look_back.cuh). Columns that are cut
// take three passes: the totals of pieces, the scan of the totals, the scan of
// each piece after what is before it.
struct ScanHead {
  LaunchHead head;
  const char* data;
  char* values;
  char* places;  // only for scans that choose
  // For rows: the counter and the slots; nullptr: a block scans a whole row.
  // For columns: the totals, states [pieces][rows].
  void* room;
  long long rows, length, piece, pieces;
  long long step[3];  // in bytes, along the dim: of data, values, places
  int pass;           // for columns: 0: the only one; 1, 2, 3
  int lanes;          // for short rows: threads of a row, a power of two
  Walk<3> walk;       // over the rows: data, values, places
};
static_assert(sizeof(ScanHead) % 8 == 0, "numbers follow");

template <int kNumbers>
struct ScanParams : ScanHead {
  Number numbers[kNumbers];
};

}  // namespace sy::cuda
