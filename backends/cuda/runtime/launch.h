#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "aten/tensor.h"
#include "backends/cuda/compile/module.h"
#include "backends/cuda/device/launch_head.cuh"

// Starting kernels.

namespace sy::cuda {

struct Extent {
  unsigned x = 1, y = 1, z = 1;
};

struct LaunchShape {
  Extent grid, block;
  unsigned shared_bytes = 0;  // dynamic
};

// Puts the kernel into the current stream of the thread on `device` (an index).
// `params` is the kernel's one argument, whose first member is a LaunchHead:
// launch() fills that in. The storages of `tensors` are used by the work
// (note_use); undefined tensors are skipped. The launch is noted with the
// running operator, for errors. A grid without blocks starts nothing. Throws
// ValueError for a tensor of another CUDA device, and what the driver says of
// the launch itself.
void launch(int device, const Function& f, const LaunchShape& shape,
            void* params, size_t params_bytes, const TensorBase* const* tensors,
            size_t num_tensors);

template <class P>
void launch(int device, const Function& f, const LaunchShape& shape, P& params,
            std::initializer_list<const TensorBase*> tensors) {
  static_assert(std::is_trivially_copyable_v<P> && sizeof(P) <= 4096);
  static_assert(offsetof(P, head) == 0);
  launch(device, f, shape, &params, sizeof(P), tensors.begin(), tensors.size());
}

// Blocks of `threads` for n elements, `per_thread` each; at most `most` blocks
// (kernels go on in strides of the grid).
inline LaunchShape shape_for(int64_t n, unsigned threads = 256,
                             unsigned per_thread = 1,
                             int64_t most = int64_t{1} << 30) {
  const int64_t each = int64_t{threads} * per_thread;
  const int64_t blocks = (n + each - 1) / each;
  return {{static_cast<unsigned>(blocks < most ? blocks : most)}, {threads}};
}

}  // namespace sy::cuda
