#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frontend/distributed/engine.h"

// The bytes of one collective, moved between the memories of all its ranks.

namespace sy::distributed {

// The transfer of one rank. The counts of all_to_all are copies.
struct ThreadTransfer {
  Transfer t;
  std::vector<int64_t> in_counts, out_counts;
};

// Reduces each element of `x` into the same one of `acc`.
void thread_reduce(void* acc, const void* x, int64_t n, ScalarType dtype,
                   ReduceOp op);

// Does the collective that all ranks, in their order, have begun. Returns ""
// or how they disagree; then nothing has moved.
std::string move_between(const std::vector<ThreadTransfer*>& ranks,
                         bool backwards);

}  // namespace sy::distributed
