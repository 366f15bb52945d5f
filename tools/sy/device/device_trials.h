#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/sy/calls/claims.h"
#include "tools/sy/trials/trials.h"

// Trials whose results must be those of the CPU.

namespace sy::tools {

// `claimed`: the backend lists the operator, and its kernel is judged by
// Bounds.
std::unique_ptr<Trials> device_trials(OperatorHandle op,
                                      std::shared_ptr<const Calls> calls,
                                      Device device, bool gradients,
                                      bool claimed);
// copy_ and _copy_from, whose kernels make all copies of tensors.
bool is_copy(OperatorHandle op);
// Copies to the device, from it and within it.
std::unique_ptr<Trials> copy_trials(OperatorHandle op, Device device,
                                    std::vector<ScalarType> dtypes);

// Calls made of the signature: by all forms on the CPU, else with the results
// of the CPU. `tensors` and `words` as in Job of conform/driver.h. Throws Error
// if neither says enough.
std::unique_ptr<Trials> made_trials(OperatorHandle op, Device device,
                                    const std::string& tensors,
                                    const std::string& words,
                                    const Claims* claims, bool gradients);

}  // namespace sy::tools
