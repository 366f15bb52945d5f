#pragma once

#include <cstdint>

#include "aten/tensor.h"
#include "backends/cuda/compile/module.h"
#include "backends/cuda/device/scan_params.cuh"
#include "backends/cuda/engine/layout.h"
#include "backends/cuda/print/scan.h"

// How kernels of device/scan.cuh are started.

namespace sy::cuda {

// How the elements of a scan lie: the dim, and the rows along it. The order of
// `rows` is that of self in memory.
struct ScanLayout {
  Walk<3> rows;
  int64_t length = 1;
  int64_t step[3] = {};  // in bytes
  bool fits = true;      // else there are too many dims

  // `places` may be undefined. There must be elements.
  ScanLayout(const TensorBase& self, const TensorBase& values,
             const TensorBase& places, int64_t dim);
};

// How a scan is cut: a function of sizes and strides alone.
struct ScanCut {
  print::ScanShell shell;
  int lanes = 1;
  int64_t piece, pieces = 1;

  ScanCut(const ScanLayout& layout, int64_t itemsize);
  int64_t blocks(int64_t rows, int pass) const;
  // The bytes of all that blocks tell each other, if a state has `state` bytes.
  int64_t room_bytes(int64_t rows, int64_t state) const;
};

// One pass, or three of columns. `params` begins with a ScanHead. `state`:
// bytes of a state. `used`: the tensors, self first; at most 3.
void launch_scan(int device, const Function& f, const ScanCut& cut,
                 const ScanLayout& layout, int64_t state, void* params,
                 size_t params_bytes, const TensorBase* const* used, size_t n);

}  // namespace sy::cuda
