#pragma once

#include <vector>

#include "autograd/node.h"

namespace sy::autograd {

struct RunOptions {
  // Keep saved tensors, for another run through the same graph.
  bool keep_graph = false;
  // Record the gradients themselves.
  bool create_graph = false;
  // Compute only what leads to `captures`, and add nothing to leaves.
  bool captures_only = false;
  // With captures_only: nothing goes beyond a capture, hooks do not run, and
  // retain_grad() keeps nothing.
  bool bare = false;
};

// Asks for the gradient of output `edge.input_nr` of `edge.node`.
struct Capture {
  Edge edge;
  Tensor gradient;  // the result; undefined if nothing flows there
};

// Carries `gradients` from `roots` (one each, defined) back through the graph,
// in this thread. A node runs when all gradients that it waits for have
// arrived; nodes run in the reverse order of recording. Runs in several threads
// may share nodes and leaves. Throws what a node throws, with the node's name.
// The graph is then as usable as before, and gradients that had arrived at
// leaves stay.
void run(const std::vector<Edge>& roots, const std::vector<Tensor>& gradients,
         std::vector<Capture>& captures, const RunOptions& options);

}  // namespace sy::autograd
