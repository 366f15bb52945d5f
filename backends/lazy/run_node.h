#pragma once

#include <vector>

#include "backends/lazy/value.h"

// Runs one node by itself: the operator's kernel, or a copy.

namespace sy::lazy {

// What the node reads, and where its results go.
class NodeMemory {
 public:
  virtual ~NodeMemory() = default;
  virtual Device device() const = 0;
  // As a tensor of that device.
  virtual Tensor operand(size_t k) = 0;
  // Memory with the elements of the value of operand k, to be written.
  virtual Storage taken(size_t k) = 0;
  virtual void set(size_t result, Storage memory) = 0;
};

// For arguments and results; it may be used again.
struct NodeScratch {
  std::vector<Value> args, results;
};

// Below autograd and all modes: see PlainModes.
void run_node(const Node& node, NodeMemory& memory, NodeScratch* scratch);

// The arguments of a recorded call. Its operands must be computed.
std::vector<Value> arguments_of(const Node& node);

}  // namespace sy::lazy
