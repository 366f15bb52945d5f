// Generated from backends/meta/backend.yaml by sygen. Do not edit.
#pragma once

#include "aten/tensor.h"
#include "c10/device/backend.h"

// Kernels to write; one that is missing is named by the linker.
namespace sy::meta {

}  // namespace sy::meta
