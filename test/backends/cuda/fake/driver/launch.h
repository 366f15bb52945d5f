#pragma once

#include <cstddef>
#include <cstdint>

#include "test/backends/cuda/fake/driver/state.h"
#include "test/backends/cuda/fake/emulator/executor.h"

namespace fake_cuda {

// The calling thread's copy of a module's __shared__ variables, which are its
// thread-local ones. nullptr if it has none.
SharedVariables shared_variables(const ModuleState& module);

}  // namespace fake_cuda
