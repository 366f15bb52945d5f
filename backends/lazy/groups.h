#pragma once

#include <cstdint>
#include <vector>

#include "backends/lazy/graph.h"

// The nodes of a graph that run together.
//
// Note [Groups]
// A node joins the group of what it reads if both walk the same dims: then each
// value of the group varies over some dims of the group's space, and a reader
// sees it along these dims, in any order, or broadcast. A node with operands of
// several groups makes one group of them. No group may need a result of another
// that needs one of its own.
//
// A node that costs less to compute again than to store is in each group that
// reads it (recompute.cpp), as a guest in all but one.

namespace sy::lazy {

// The dims of a node, as dims of a group's space or -1.
using DimMap = std::vector<int8_t>;

inline constexpr size_t kMaxNodes = 64;  // of a group
inline constexpr size_t kMaxOperands = 28;

struct Group {
  struct Guest {
    int node;
    DimMap walked;  // its result has the same dims
  };
  std::vector<int> nodes;      // in order, guests included
  std::vector<int64_t> space;  // sizes of its dims, none of them 1
  bool fused = false;          // runs as a region
  std::vector<Guest> guests;

  const Guest* guest(int node) const;
};

struct Groups {
  std::vector<Group> groups;  // in an order in which they can run
  std::vector<int> of;        // group of each node that is no guest there
  // The dims that each fused node walks in its own group, and those of its
  // results.
  std::vector<DimMap> walked, result_dims;

  bool has(const Group& g, int node) const {
    return node >= 0 && (&groups[size_t(of[size_t(node)])] == &g ||
                         g.guest(node) != nullptr);
  }
  // The same in a group that has the node.
  const DimMap& walked_in(const Group& g, int node) const;
  const DimMap& result_dims_in(const Group& g, int node) const;
};

Groups make_groups(const RecordedGraph& graph);
// Makes guests of what is cheap. `wanted`, by node and result: somebody beyond
// the graph reads it. A group may be left without nodes.
void recompute_cheap(const RecordedGraph& graph,
                     const std::vector<std::vector<bool>>& wanted,
                     Groups* groups);

}  // namespace sy::lazy
