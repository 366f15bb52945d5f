#pragma once

#include <vector>

#include "backends/lazy/value.h"

// Runs one node by itself: the operator's kernel, or a copy.

namespace sy::lazy {

// The memory that the node reads, and where its results go.
class NodeMemory {
 public:
  virtual ~NodeMemory() = default;
  virtual Device device() const = 0;
  // Operand k as a tensor of that device.
  virtual Tensor operand(size_t k) = 0;
  // Memory with the elements of the value of operand k, to be written.
  virtual Storage taken(size_t k) = 0;
  virtual void set(size_t result, Storage memory) = 0;
  // Instead of set(), a result whose elements are on their way. False: it is
  // waited for.
  virtual bool set_late(size_t /*result*/, const Tensor& /*computed*/) {
    return false;
  }
};

// For arguments and results; it may be used again.
struct NodeScratch {
  std::vector<Value> args, results;
};

// Runs the node below autograd and all modes: see PlainModes.
void run_node(const LazyNode& node, NodeMemory& memory, NodeScratch* scratch);

// How many operands the call takes; one that is not taken runs before it.
size_t num_taken(const LazyNode& node);

// The arguments of a recorded call. Its operands must be computed.
std::vector<Value> arguments_of(const LazyNode& node);

}  // namespace sy::lazy
