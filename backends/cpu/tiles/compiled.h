#pragma once

#include <cstdint>

#include "aten/program/compiled.h"
#include "backends/cpu/tiles/runner.h"

// Loops for whole programs, those with `compiled: true`.

namespace sy::cpu::tiles {

// dst = the program's result. a and b are its inputs (b is ignored if there is
// one), c is the array of its uniforms. The mask is ignored, as no input is a
// single element. dst may be an input. nullptr if the program or the type has
// no loop.
PrimFn compiled_fn(const program::Program& program, ComputeType type) noexcept;

// Maps of elements that reductions apply as they read: NaN becomes 0, the
// magnitude, the square.
enum class ReduceMap : uint8_t { numbers, abs, square };
inline constexpr int kNumReduceMaps = 3;
// reduce_fn(r, type) of what the program makes of each element. nullptr if
// there is none.
SY_API ReduceFn mapped_reduce_fn(Reduction r, const program::Program& map,
                                 const program::Uniform* uniforms,
                                 ComputeType type) noexcept;

}  // namespace sy::cpu::tiles
