#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "aten/backend/region.h"
#include "backends/lazy/graph.h"
#include "backends/lazy/text.h"

// How a graph runs: which of its nodes run together, in which order, and whose
// memory is used again. A plan knows nodes by their places in the graph. It
// serves each graph of the same structure, whatever its sizes and numbers.

namespace sy::lazy {

// A value of a graph: node < 0 is data[-1 - node].
struct ValueRef {
  int node = 0;
  int result = 0;
  friend bool operator==(ValueRef, ValueRef) = default;
};

struct RegionInput {
  ValueRef value;
  // The operand that reads it, for its layout.
  int reader = 0, operand = 0;
  // Dim of the operand -> dim of the region, or -1.
  std::vector<int8_t> dims;
};

struct RegionResult {
  ValueRef value;
  std::vector<int8_t> dims;
  int donor = -1;  // an input of the region
};

struct Step {
  // One node that runs by itself, or all nodes of a region.
  std::vector<int> nodes;
  RegionHandle region;  // defined for a region
  // Dim of the region -> a node and which of the dims that it walks has the
  // size. With `one_row` the region has one dim, all elements of a result.
  struct Size {
    int node;
    int dim;
  };
  std::vector<Size> sizes;
  bool one_row = false;
  bool whole = false;  // all nodes of the graph, by the engine's compiler
  std::vector<RegionInput> inputs;
  std::vector<RegionResult> results;
  // Values that nobody needs after the step.
  std::vector<ValueRef> last_uses;
  std::string text;  // a line that says what it does
};

class Executables;

// The cost of a step, of the runs together whose time was taken.
struct Cost {
  int64_t runs = 0, ns = 0;
  int64_t bytes = 0;  // that it read and wrote
};

struct Plan final : RefCounted {
  Plan();
  ~Plan();
  std::vector<Step> steps;
  const GraphEngine* engine = nullptr;
  std::unique_ptr<Executables> executables;  // of a step that is `whole`
  Picture picture;
  std::atomic<int64_t> started{0};  // runs
  // The cost of each step, and of all. graph_mutex() guards them.
  std::vector<Cost> costs;
  Cost all;

  // The steps with their mean time and bytes, a line each.
  std::string text() const;
  // The graph with a box for each region.
  std::string dot() const;
};

// Finds out, for each value, whether somebody beyond the graph wants it. That
// may change at any time: a planner asks once.
void find_wanted(const RecordedGraph& graph);
// Whether nobody does, after find_wanted().
bool is_own(const LazyNode& data);

intrusive_ptr<Plan> make_plan(const RecordedGraph& graph);

// The dims that a node walks: those of its results, or of what it reduces.
inline const ValueLayout& walked_layout(const LazyNode& n) {
  return n.kind == LazyNode::kReduce ? n.operands[0].layout()
                                     : n.made[0].layout;
}

// Dims of `part` that are dims of the value `of`: -1 for those of size 1 and
// for those along which the same elements are read again. Empty if `part` is
// anything else than the dims of `of` in another order.
bool map_dims(const ValueLayout& part, const ValueLayout& of,
              std::vector<int8_t>* dims);

}  // namespace sy::lazy
