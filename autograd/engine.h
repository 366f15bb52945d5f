#pragma once

#include <vector>

#include "autograd/node.h"

namespace sy::autograd {

struct RunOptions {
  // Saved tensors are kept for another run through the same graph.
  bool keep_graph = false;
  // The gradients themselves are recorded.
  bool create_graph = false;
  // Only what leads to `captures` is computed, and leaves are not added to.
  bool captures_only = false;
};

// Where a gradient is to be noted: of output `edge.input_nr` of `edge.node`.
struct Capture {
  Edge edge;
  Tensor gradient;  // filled in; undefined if nothing flows there
};

// Carries `gradients` from `roots` (one each, defined) back through the graph,
// in this thread. Nodes run in the reverse order of recording, each when all
// that it waits for has arrived. Runs in several threads may share nodes and
// leaves. Throws what a node throws, with its name; the graph is then as usable
// as before, gradients that had arrived at leaves stay.
void run(const std::vector<Edge>& roots, const std::vector<Tensor>& gradients,
         std::vector<Capture>& captures, const RunOptions& options);

}  // namespace sy::autograd
