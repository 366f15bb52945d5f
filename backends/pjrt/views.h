#pragma once

#include <vector>

#include "aten/backend/graph.h"
#include "backends/pjrt/builder.h"

// Strided views of values, which StableHLO does not know: slices, transposes
// and broadcasts where a view is one, a gather of single elements where it is
// not.

namespace sy::pjrt {

inline Sizes sizes_of(const graph::Layout& l) {
  return {l.sizes.begin(), l.sizes.end()};
}

// The dims in the order in which they lie in memory, slowest first. `l` is the
// layout of a value: dense.
std::vector<int64_t> memory_order(const graph::Layout& l);
// The sizes of such dims in that order.
Sizes memory_sizes(const graph::Layout& l);
// Turns an array that lies in memory as `l` into a value, and back.
Ssa from_memory(Builder& b, const Ssa& x, const graph::Layout& l);
Ssa to_memory(Builder& b, const Ssa& x, const graph::Layout& l);

// The part of a value. Throws NotImplementedError for another dtype.
Ssa part_of(Builder& b, const Ssa& value, const graph::Layout& of,
            const graph::Layout& part);
// The value with `source`, broadcast, in place of the part.
Ssa with_part(Builder& b, const Ssa& value, const graph::Layout& of,
              const graph::Layout& part, const Ssa& source);

}  // namespace sy::pjrt
