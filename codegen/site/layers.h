#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "codegen/site/svg.h"

// A graph without cycles drawn in layers, from left to right.

namespace sy::codegen::site {

struct LayeredGraph {
  struct Node {
    double width = 0, height = 0;
    // Made by lay_out().
    Point at = {};  // the upper left corner
    int layer = 0;
  };
  struct Edge {
    std::size_t from = 0, to = 0;
    bool dashed = false;
    // Made by lay_out(): the points it goes along.
    std::vector<Point> points = {};
  };
  std::vector<Node> nodes;  // an edge goes to a node with a larger number
  std::vector<Edge> edges;
  double width = 0, height = 0;  // made by lay_out()
  bool downwards = false;        // from top to bottom, if it is too wide
};

// Places nodes and edges; the graph's upper left corner is 0, 0.
void lay_out(LayeredGraph& graph, double most_width);

// "M… C…", a smooth line along the edge.
std::string path_of(const LayeredGraph& graph, const LayeredGraph::Edge& edge);

}  // namespace sy::codegen::site
