#pragma once

#include <cstdint>
#include <vector>

#include "backends/lazy/graph.h"

// Which nodes of a graph run together.
//
// Note [Groups]
// A node joins the group of what it reads if both walk the same dims: then each
// value of the group varies over some dims of the group's space, and a reader
// sees it along these dims, in any order, or broadcast. A node with operands of
// several groups makes one group of them. No group may need a result of another
// that needs one of its own.

namespace sy::lazy {

struct Group {
  std::vector<int> nodes;      // in order
  std::vector<int64_t> space;  // sizes of its dims, none of them 1
  bool fused = false;          // runs as a region
};

struct Groups {
  std::vector<Group> groups;  // in an order in which they can run
  std::vector<int> of;        // group of each node
  // Of each fused node: the dims that it walks, and those of its results, as
  // dims of the group's space or -1.
  std::vector<std::vector<int8_t>> walked, result_dims;
};

Groups make_groups(const Graph& graph);

}  // namespace sy::lazy
