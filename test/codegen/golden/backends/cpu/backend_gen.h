// Generated from backends/cpu/backend.yaml by sygen. Do not edit.
#pragma once

#include "aten/backend/engines.h"
#include "aten/tensor.h"
#include "c10/device/backend.h"

// What to write for engines: see aten/backend/engine_calls.h.
namespace sy::cpu {

struct SY_API PointwiseWays;
struct SY_API ReduceWays;
struct SY_API ScanWays;

}  // namespace sy::cpu

extern template struct sy::PointwiseCalls<sy::cpu::PointwiseWays>;
extern template struct sy::ReduceCalls<sy::cpu::ReduceWays>;
extern template struct sy::ScanCalls<sy::cpu::ScanWays>;

namespace sy::cpu {

inline constexpr PointwiseEngine kPointwise =
    PointwiseCalls<PointwiseWays>::engine();
inline constexpr ReduceEngine kReduce = ReduceCalls<ReduceWays>::engine();
inline constexpr ScanEngine kScan = ScanCalls<ScanWays>::engine();
inline constexpr BackendEngines kEngines{&kPointwise, &kReduce, &kScan};

}  // namespace sy::cpu

// Kernels to write; one that is missing is named by the linker.
namespace sy::cpu {

}  // namespace sy::cpu
