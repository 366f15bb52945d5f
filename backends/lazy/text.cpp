#include "backends/lazy/text.h"

#include "backends/lazy/groups.h"
#include "c10/error.h"

namespace sy::lazy {

namespace {

std::string layout_text(const Layout& l) {
  std::string text = str("{}[", l.dtype);
  for (int64_t d = 0; d < l.dim(); ++d) {
    text += str("{}{}", d == 0 ? "" : ", ", l.sizes()[size_t(d)]);
  }
  return text + "]";
}

std::string operand_text(const Operand& o) {
  std::string text = o.node->index < 0 ? str("data{}", -1 - o.node->index)
                                       : str("%{}", o.node->index);
  if (o.node->made.size() > 1) text += str(".{}", o.result);
  return o.part ? text + " as " + layout_text(*o.part) : text;
}

std::string results_text(const Node& n) {
  std::string text;
  for (const Made& m : n.made) {
    text += (text.empty() ? "" : ", ") + layout_text(m.layout);
  }
  return text;
}

}  // namespace

std::string graph_text(const Graph& graph) {
  std::string text;
  for (size_t i = 0; i < graph.data.size(); ++i) {
    text += str("data{}: {}\n", i, results_text(*graph.data[i]));
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& n = *graph.nodes[i];
    text += str("%{}: {} = {}(", i, results_text(n), n.name());
    for (size_t k = 0; k < n.operands.size(); ++k) {
      text += (k == 0 ? "" : ", ") + operand_text(n.operands[k]);
    }
    text += ")\n";
  }
  return text;
}

std::string graph_dot(const Graph& graph) {
  const Groups groups = make_groups(graph);
  std::string text = "digraph lazy {\n  node [shape=box, fontsize=10];\n";
  for (size_t i = 0; i < graph.data.size(); ++i) {
    text += str("  d{} [label=\"data {}\", shape=ellipse];\n", i,
                results_text(*graph.data[i]));
  }
  for (size_t g = 0; g < groups.groups.size(); ++g) {
    const Group& group = groups.groups[g];
    const bool box = group.fused && group.nodes.size() > 1;
    if (box) text += str("  subgraph cluster{} {{\n    style=filled;\n", g);
    for (const int i : group.nodes) {
      const Node& n = *graph.nodes[size_t(i)];
      text += str("  {}n{} [label=\"{}\\n{}\"];\n", box ? "  " : "", i,
                  n.name(), results_text(n));
    }
    if (box) text += "  }\n";
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const Operand& o : graph.nodes[i]->operands) {
      const int k = o.node->index;
      text += str("  {}{} -> n{};\n", k < 0 ? "d" : "n", k < 0 ? -1 - k : k, i);
    }
  }
  return text + "}\n";
}

}  // namespace sy::lazy
