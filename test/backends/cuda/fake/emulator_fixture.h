#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "test/backends/cuda/fake/emulator/executor.h"

// Runs kernels of the test's own translation unit. Include it before
// kernel.cuh.

namespace fake_cuda {

struct Shape {
  dim3 blocks, threads;
  size_t shared = 0;
  uint64_t seed = 1;
  BlockOrder order = BlockOrder::kAscending;
};

// Calls `f(shape)` for each order of blocks, and some seeds of each.
template <class F>
void for_orders(Shape shape, F f) {
  for (const BlockOrder order :
       {BlockOrder::kAscending, BlockOrder::kDescending,
        BlockOrder::kShuffled}) {
    for (const uint64_t seed : {0, 1, 7}) {
      SCOPED_TRACE(seed);
      shape.order = order;
      shape.seed = seed;
      f(shape);
    }
  }
}

inline Grid grid_of(sy_on_host::Kernel kernel, const Shape& shape) {
  Grid grid;
  grid.name = "tested";
  grid.kernel = kernel;
  grid.blocks = shape.blocks;
  grid.threads = shape.threads;
  grid.shared_bytes = shape.shared;
  grid.seed = shape.seed;
  grid.order = shape.order;
  return grid;
}

template <class P>
Outcome run_kernel(sy_on_host::Kernel kernel, P params, const Shape& shape) {
  unsigned long long started = 0;
  params.head.started = &started;
  params.head.ticket = 41;
  Grid grid = grid_of(kernel, shape);
  grid.params = &params;
  grid.params_bytes = sizeof params;
  return run_grid(grid);
}

template <class P>
void run_well(sy_on_host::Kernel kernel, const P& params, const Shape& shape) {
  const Outcome outcome = run_kernel(kernel, params, shape);
  EXPECT_EQ(outcome.ending, Ending::kDone) << outcome.text;
}

template <class P>
void expect_failure(sy_on_host::Kernel kernel, const P& params,
                    const Shape& shape, Ending ending,
                    const std::string& part) {
  const Outcome outcome = run_kernel(kernel, params, shape);
  EXPECT_EQ(outcome.ending, ending) << outcome.text;
  EXPECT_NE(outcome.text.find(part), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("kernel 'tested', block ("), std::string::npos)
      << outcome.text;
}

}  // namespace fake_cuda
