#pragma once

#include <map>
#include <string>
#include <vector>

#include "aten/backend/graph.h"
#include "backends/pjrt/builder.h"
#include "backends/pjrt/client.h"

// Graphs as StableHLO.
//
// Note [Lowering]
// Element programs and reductions are lowered step by step, views to slices,
// products to dot_general. All other calls are custom calls of our own kernels
// within the program: those that fail for some elements, as an index that is
// out of range does, and those that XLA has nothing for. Calls that draw random
// numbers are kept in order by a number that each hands to the next.
// The numbers of programs are inputs, an array for each type, so that a
// learning rate that changes compiles nothing.

namespace sy::pjrt {

struct Lowered {
  // A uniform of a call, in the order of its array.
  struct Number {
    int call, uniform;
  };
  std::string text;
  std::vector<int> inputs;  // values of the graph
  std::vector<Shape> input_shapes, output_shapes;
  // Large outputs are computed into memory of ours, which is donated as the
  // first inputs of all.
  std::vector<Donation> donations;
  // The numbers, behind the inputs, for each type that there is one of.
  struct Numbers {
    program::ComputeType type;
    std::vector<Number> of;
  };
  std::vector<Numbers> numbers;
};

// `kernels`: the calls that become custom calls, with their ids; those that
// is_lowered() says false of must be among them. Throws NotImplementedError if
// a value has a dtype that XLA lacks.
Lowered lower(const graph::Graph& graph, const std::map<int, int64_t>& kernels);

// Whether the call is lowered, not a custom call.
bool is_lowered(const graph::Graph& graph, const graph::Call& call);

// Operators with a lowering of their own (operators.cpp).
bool is_lowered_operator(const graph::Graph& graph, const graph::Call& call);
Ssa lower_operator(Builder& b, const graph::Graph& graph,
                   const graph::Call& call, const std::vector<Ssa>& operands);

}  // namespace sy::pjrt
