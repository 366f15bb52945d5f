#pragma once

// What a plugin's source needs to define operators and register kernels;
// kernels that call operators include <sy/sy.h>.

#include "aten/backend/cpu_fallback.h"
#include "aten/tensor.h"
#include "c10/backend.h"
#include "c10/plugin/library.h"
