// Generated from backends/cpu/backend.yaml by sygen. Do not edit.
#pragma once

#include "aten/tensor.h"
#include "c10/device/backend.h"

// Kernels to write; one that is missing is named by the linker.
namespace sy::cpu {

}  // namespace sy::cpu
