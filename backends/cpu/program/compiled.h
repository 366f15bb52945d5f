#pragma once

#include <cstdint>

#include "aten/program/compiled.h"
#include "backends/cpu/program/runner.h"

// The loops of whole programs, those of `compiled: true`.

namespace sy::tiles {

// dst = the program's result: a and b its inputs, b not looked at if it has
// one; c its uniforms, as an array. Nor is the mask: no input is one element.
// dst may be an input. nullptr where the program or the type has none.
PrimFn compiled_fn(const program::Program& program, ComputeType type) noexcept;

// Maps of one element that reductions do as they read: a NaN is 0, the
// magnitude, the square.
enum class ReduceMap : uint8_t { numbers, abs, square };
inline constexpr int kNumReduceMaps = 3;
// reduce_fn(r, type) of what the program makes of each element. nullptr where
// there is none.
SY_API ReduceFn mapped_reduce_fn(Reduction r, const program::Program& map,
                                 const program::Uniform* uniforms,
                                 ComputeType type) noexcept;

}  // namespace sy::tiles
