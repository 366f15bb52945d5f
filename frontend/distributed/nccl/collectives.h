#pragma once

#include <functional>

#include "frontend/distributed/engine.h"
#include "frontend/distributed/nccl/api.h"

// A transfer of ours as calls of NCCL.

namespace sy::distributed::nccl {

bool reduces(Collective what) noexcept;
// Whether NCCL has that reduction, with a NaN as ours.
bool reducible(ScalarType dtype, ReduceOp op) noexcept;
// The bytes of t.count elements.
size_t bytes_of(const Transfer& t) noexcept;
// No rank gets anything from this one, nor it from others.
bool moves_nothing(const Transfer& t, int size) noexcept;
// Returns the function that enqueues it, on rank `rank` of `size`. Not for
// send, recv and barrier.
std::function<int(Comm, Stream)> launch_of(const Api& api, const Transfer& t,
                                           int rank, int size);

}  // namespace sy::distributed::nccl
