#pragma once

#include <functional>
#include <string>

#include "aten/tensor.h"
#include "c10/dispatch/dispatcher.h"
#include "tools/sy/cases/arguments.h"

namespace sy::tools {

// Differentiates a functional call on a device and on the CPU, with the same
// cotangents, and compares the gradients of the arguments of float32 and
// float64. `arguments` makes those of the call, on the CPU, each time anew. ""
// if they agree, or if the CPU has no gradient of this call. Throws what the
// device throws. Counts of calls that ran on the CPU are as before.
std::string compare_device_gradients(
    OperatorHandle op, const std::function<Arguments()>& arguments,
    Device device);

}  // namespace sy::tools
