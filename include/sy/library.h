#pragma once

// Everything that a plugin needs to define operators and register kernels.
// Kernels that call operators also include <sy/sy.h>.

#include "aten/backend/cpu_fallback.h"
#include "aten/tensor.h"
#include "c10/device/backend.h"
#include "c10/plugin/library.h"
