#pragma once

#include <algorithm>
#include <string_view>

#include "aten/tensor.h"
#include "backends/cuda/compile/module.h"
#include "backends/cuda/device/row_params.cuh"
#include "backends/cuda/runtime/launch.h"

// Kernels that keep a row (device/row.cuh): rows of `length` elements, one
// after the other.

namespace sy::cuda {

// The resources of a row: threads, and shared memory if it stays there.
struct RowPlan {
  LaunchShape shape;
  int lanes = 32;
  bool resident = false;
  bool packs = false;
};

// `kept`: operands that stay, in elements of `size` bytes. `aligned`: all
// memory is, to 16 bytes. A function of the length alone otherwise.
inline RowPlan plan_rows(int64_t rows, int64_t length, int kept, int64_t size,
                         int64_t itemsize, bool aligned) {
  RowPlan p;
  // Warps for short rows, and for long ones as many threads as they feed.
  if (length > 1024) p.lanes = 256;
  if (length > 8192) p.lanes = kRowThreads;
  const int threads = std::max(p.lanes, 256);
  const int64_t side = threads / p.lanes;
  // Every device gives so much without being asked for more.
  constexpr int64_t kRoom = 48 << 10;
  const int64_t bytes = side * kept * length * size;
  p.resident = bytes <= kRoom;
  p.packs = aligned && length % (16 / itemsize) == 0;
  const int64_t blocks = (rows + side - 1) / side;
  p.shape = {{static_cast<unsigned>(std::min<int64_t>(blocks, 1 << 30))},
             {static_cast<unsigned>(threads)},
             p.resident ? static_cast<unsigned>(bytes) : 0u};
  return p;
}

inline void set_rows(RowHead* p, const RowPlan& plan, int64_t rows,
                     int64_t length) {
  p->rows = rows;
  p->length = length;
  p->inner = 1;
  p->lanes = plan.lanes;
  p->resident = plan.resident;
  p->packs = plan.packs;
}

inline bool is_aligned(const TensorBase& t) {
  return reinterpret_cast<uintptr_t>(t.raw_data()) % 16 == 0;
}

}  // namespace sy::cuda
