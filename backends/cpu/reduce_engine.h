#pragma once

#include "aten/reduce.h"
#include "aten/tile/tile.h"
#include "backends/cpu/reduce_layout.h"

// The two ways of reducing, internal to reduce.cpp: by a kernel that combines a
// whole run, for the operators that have one, else by the operator's programs.

namespace sy::cpu {

// Elements that make a partial result; more are split, whatever the number of
// threads, so that results do not depend on it.
inline constexpr int64_t kReducePiece = int64_t{1} << 17;

struct KnownReduction {
  tile::Reduction kind;
  ScalarType input;     // self is converted to it first, if it is not
  tile::TileType type;  // of `input`
  tile::TileType accumulator;
};

// Whether a kernel does what the operator's map and combine say.
bool recognise(const ReduceOp& op, ScalarType self, ScalarType compute,
               KnownReduction* known);
// The accumulator of no elements, or of one for max and min (`first`, of the
// kernel's type).
void start_accumulator(const KnownReduction& known, const void* first,
                       void* accumulator);

// One accumulator for each kept element, in the order of layout.kept.
void reduce_known(const KnownReduction& known, const ReduceLayout& layout,
                  ScalarType self, void* accumulators);

// The same by programs: accumulator i of kept element j is element j of
// accumulators[i], of the compute type or a bool. There are elements.
void reduce_by_program(const ReduceOp& op, const ReduceArgs& args,
                       const ReduceLayout& layout, ScalarType compute,
                       char* const* accumulators);

}  // namespace sy::cpu
