#include "backends/lazy/text.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "backends/lazy/groups.h"
#include "c10/process/error.h"

namespace sy::lazy {

namespace {

std::string layout_text(const ValueLayout& l) {
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

std::string results_text(const LazyNode& n) {
  std::string text;
  for (const Made& m : n.made) {
    text += (text.empty() ? "" : ", ") + layout_text(m.layout);
  }
  return text;
}

}  // namespace

std::string graph_text(const RecordedGraph& graph) {
  std::string text;
  for (size_t i = 0; i < graph.data.size(); ++i) {
    text += str("data{}: {}\n", i, results_text(*graph.data[i]));
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const LazyNode& n = *graph.nodes[i];
    text += str("%{}: {} = {}(", i, results_text(n), n.name());
    for (size_t k = 0; k < n.operands.size(); ++k) {
      text += (k == 0 ? "" : ", ") + operand_text(n.operands[k]);
    }
    text += ")\n";
  }
  return text;
}

Picture picture_of(const RecordedGraph& graph) {
  Picture p;
  for (const auto& n : graph.data) {
    p.data.push_back("data\\n" + results_text(*n));
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const LazyNode& n = *graph.nodes[i];
    p.nodes.push_back(str("{}\\n{}", n.name(), results_text(n)));
    for (const Operand& o : n.operands) {
      p.arrows.push_back({o.node->index, static_cast<int>(i)});
    }
  }
  return p;
}

std::string dot_of(const Picture& picture, const std::vector<Box>& boxes) {
  std::string text =
      "digraph lazy {\n  node [shape=box, style=filled, fillcolor=white, "
      "fontname=\"sans-serif\", fontsize=10];\n";
  for (size_t i = 0; i < picture.data.size(); ++i) {
    text += str("  d{} [label=\"{}\", shape=ellipse];\n", i, picture.data[i]);
  }
  for (size_t b = 0; b < boxes.size(); ++b) {
    const Box& box = boxes[b];
    const bool drawn = box.nodes.size() > 1;
    if (drawn) {
      text +=
          str("  subgraph cluster{} {{\n    style=filled; color=lightgrey; "
              "fontname=\"sans-serif\"; fontsize=10; label=\"{}\";\n",
              b, box.label);
    }
    for (const int i : box.nodes) {
      const std::string& label = picture.nodes[size_t(i)];
      const bool alone = !drawn && !box.label.empty();
      text += str("  {}n{} [label=\"{}{}{}\"];\n", drawn ? "  " : "", i, label,
                  alone ? "\\n" : "", alone ? box.label : "");
    }
    if (drawn) text += "  }\n";
  }
  for (const Picture::Arrow a : picture.arrows) {
    const bool data = a.from < 0;
    text += str("  {}{} -> n{};\n", data ? "d" : "n",
                data ? -1 - a.from : a.from, a.to);
  }
  return text + "}\n";
}

std::string nodes_text(const std::vector<intrusive_ptr<LazyNode>>& nodes) {
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t i = 0; i < std::min(kMost, nodes.size()); ++i) {
    text += str("{}{} {}", i == 0 ? "" : ", ", nodes[i]->name(),
                results_text(*nodes[i]));
  }
  if (nodes.size() > kMost) text += str(" and {} more", nodes.size() - kMost);
  return text;
}

std::string graph_dot(const RecordedGraph& graph) {
  const Groups groups = make_groups(graph);
  std::vector<Box> boxes;
  for (const Group& g : groups.groups) {
    if (g.fused) {
      boxes.push_back({g.nodes, g.nodes.size() > 1 ? "region" : ""});
    } else {
      for (const int i : g.nodes) boxes.push_back({{i}, ""});
    }
  }
  return dot_of(picture_of(graph), boxes);
}

namespace {

// A number with a unit, each a thousand times the one before.
std::string in_units(double v, const char* const* units, size_t n) {
  size_t i = 0;
  for (; i + 1 < n && v >= 999.5; ++i) v /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, i == 0 || v >= 99.95 ? "%.0f %s" : "%.1f %s",
                v, units[i]);
  return text;
}

}  // namespace

std::string time_text(double ns) {
  static constexpr const char* kUnits[] = {"ns", "us", "ms", "s"};
  return in_units(ns, kUnits, std::size(kUnits));
}

std::string bytes_text(double bytes) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  return in_units(bytes, kUnits, std::size(kUnits));
}

}  // namespace sy::lazy
