// Generated from backends/cpu/backend.yaml by sygen. Do not edit.
#pragma once

#include "aten/backend/engines.h"
#include "aten/tensor.h"
#include "backends/cpu/engine/pointwise.h"
#include "backends/cpu/engine/reduce.h"
#include "backends/cpu/engine/scan.h"
#include "c10/device/backend.h"

namespace sy::cpu {

inline constexpr sy::PointwiseEngine kPointwise{
    &sy::cpu::pointwise, &sy::cpu::pointwise_outputs, &sy::cpu::pointwise_out,
    &sy::cpu::pointwise_inplace};
inline constexpr sy::ReduceEngine kReduce{
    &sy::cpu::reduce, &sy::cpu::reduce_results, &sy::cpu::reduce_out,
    &sy::cpu::reduce_outs};
inline constexpr sy::ScanEngine kScan{&sy::cpu::scan_results,
                                      &sy::cpu::scan_outs};
inline constexpr sy::BackendEngines kEngines{&kPointwise, &kReduce, &kScan};

}  // namespace sy::cpu

// Kernels to write; one that is missing is named by the linker.
namespace sy::cpu {

}  // namespace sy::cpu
