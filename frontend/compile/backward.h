#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <vector>

#include "aten/backend/capture.h"
#include "autograd/node.h"
#include "frontend/compile/function.h"

// The gradient of a captured callable: the derivative of its calls is captured
// with them, and replayed by one node.

namespace sy::compiling {

struct Failing {
  size_t output;
  std::exception_ptr error;
};

// The outputs that gradients flow from, and where they flow to.
struct Flow {
  std::vector<size_t> outputs;        // that require a gradient
  std::vector<int> sources;           // the inputs that their gradients are
  std::vector<autograd::Edge> edges;  // empty where `arguments` says it
  std::vector<int> arguments;         // of each edge, or -1
  // Outputs whose backward pass throws: a graph that is freed, saved tensors
  // that were overwritten.
  std::vector<Failing> failing;
};

// The recorded derivative of a capture.
struct Tape {
  Flow flow;
  std::vector<Tensor> seeds;      // gradients of the outputs, as inputs
  std::vector<Tensor> gradients;  // one for each edge; may be undefined
};

// The number that the next recorded operation of this thread gets.
uint64_t next_sequence_nr();

// Whether record_tape() would record anything.
bool needs_tape(const Outputs& outputs, capture::Recorder& recorder);
// Records the derivative of the outputs that require a gradient and have memory
// of their own, with respect to what was there before `first`, a number of
// next_sequence_nr(). Frees nothing of what nodes have saved.
void record_tape(const Arguments& arguments, const Outputs& outputs,
                 uint64_t first, capture::Recorder& recorder, Tape* tape);

// A backward graph, and what its inputs are.
struct Backward {
  std::unique_ptr<capture::Graph> graph;  // nullptr if all outputs fail
  Flow flow;
  std::shared_ptr<std::atomic<int64_t>> runs;
};

// Frees what the nodes of these outputs have saved: the graph has it.
void release_tape(const Outputs& outputs, uint64_t first,
                  capture::Recorder& recorder);

// Makes results of one node of the outputs. `values` are those of the forward
// graph, `inputs` its inputs now, as tensors.
void attach(const std::shared_ptr<const Backward>& backward,
            const Arguments& arguments, const std::vector<Storage>& values,
            const std::vector<Tensor>& inputs, Outputs* out);

// A tensor of a graph's value or input.
Tensor tensor_over(const Storage& s, const capture::Result& r);

}  // namespace sy::compiling
