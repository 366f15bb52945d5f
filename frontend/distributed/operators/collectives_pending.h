#pragma once

#include "aten/tensor.h"
#include "frontend/distributed/work.h"

namespace sy::distributed {

// The result of a call of a group, `out`, for a program that goes on: a pending
// tensor whose first use waits for `work` and throws its error. On a device
// that records calls, where tensors have no memory, waits at once. `out` is
// contiguous and nobody else's.
Tensor pending_result(Tensor out, const Work& work);

}  // namespace sy::distributed
