#pragma once

#include <string>

#include "backends/lazy/graph.h"

// Pictures of recorded calls. The caller holds graph_mutex().

namespace sy::lazy {

// One call per line: its results, what it computes, what it reads.
std::string graph_text(const Graph& graph);
// For graphviz. Calls that will run as one region are in one box.
std::string graph_dot(const Graph& graph);

}  // namespace sy::lazy
