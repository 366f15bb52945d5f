#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backends/lazy/graph.h"

// Graphs for people to look at.

namespace sy::lazy {

// The parts of a graph that are drawn; the nodes may be gone.
struct Picture {
  struct Arrow {
    int from, to;  // from < 0 is data[-1 - from]
  };
  std::vector<std::string> data, nodes;
  std::vector<Arrow> arrows;
};

// Nodes that run together, and a line about them.
struct Box {
  std::vector<int> nodes;
  std::string label;
};

Picture picture_of(const RecordedGraph& graph);
// The picture in the DOT language. A box of one node is drawn as that node.
std::string dot_of(const Picture& picture, const std::vector<Box>& boxes);

std::string graph_text(const RecordedGraph& graph);
// The graph in the DOT language, with a box for each region that there would
// be.
std::string graph_dot(const RecordedGraph& graph);

// Their names and results, the first few.
std::string nodes_text(const std::vector<intrusive_ptr<LazyNode>>& nodes);

// "12.3 us", "4.0 MB"; short.
std::string time_text(double ns);
std::string bytes_text(double bytes);

}  // namespace sy::lazy
