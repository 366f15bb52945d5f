// Generated from backends/meta/backend.yaml by sygen. Do not edit.
#pragma once

#include "aten/backend/engines.h"
#include "aten/tensor.h"
#include "c10/device/backend.h"

// What to write for engines: see aten/backend/engine_calls.h.
namespace sy::meta {

struct SY_API PointwiseWays;
struct SY_API ReduceWays;
struct SY_API ScanWays;

}  // namespace sy::meta

extern template struct sy::PointwiseCalls<sy::meta::PointwiseWays>;
extern template struct sy::ReduceCalls<sy::meta::ReduceWays>;
extern template struct sy::ScanCalls<sy::meta::ScanWays>;

namespace sy::meta {

inline constexpr PointwiseEngine kPointwise =
    PointwiseCalls<PointwiseWays>::engine();
inline constexpr ReduceEngine kReduce = ReduceCalls<ReduceWays>::engine();
inline constexpr ScanEngine kScan = ScanCalls<ScanWays>::engine();
inline constexpr BackendEngines kEngines{&kPointwise, &kReduce, &kScan, false};

}  // namespace sy::meta

// Kernels to write; one that is missing is named by the linker.
namespace sy::meta {

}  // namespace sy::meta
