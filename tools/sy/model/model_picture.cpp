#include "tools/sy/model/model_picture.h"

#include <sy/export.h>
#include <sy/sy.h>

#include <algorithm>
#include <map>
#include <set>

#include "c10/process/graphviz.h"
#include "tools/sy/support/json.h"

namespace sy::tools {

namespace {

using Nodes = std::vector<ProgramFacts::Node>;

std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// A module, the nodes that were written in it, and the modules below.
struct Block {
  std::string path, type;
  std::vector<size_t> nodes;
  std::map<std::string, Block> children;
  int64_t times = 1;
  std::string last;  // the path of the last one that is drawn with it
};

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> out;
  size_t begin = 0;
  while (begin < path.size()) {
    const size_t end = std::min(path.find('.', begin), path.size());
    out.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

bool is_number(const std::string& s) {
  return !s.empty() && s.find_first_not_of("0123456789") == std::string::npos;
}

class Picture {
 public:
  explicit Picture(const ProgramFacts& facts) : facts_(facts) {
    for (size_t i = 0; i < facts.nodes.size(); ++i) {
      stands_for_.push_back(i);
      if (facts.nodes[i].depth == 0) add(i);
    }
    fold(root_);
  }

  std::string dot() {
    out_ =
        "digraph {\n  node [shape=box style=\"rounded,filled\" "
        "fontname=Helvetica fontsize=10 fillcolor=\"#eef3fb\" "
        "color=\"#8aa4c8\"];\n  edge [color=\"#667788\" arrowsize=0.6];\n"
        "  graph [fontname=Helvetica fontsize=10 style=rounded "
        "color=\"#b0b8c0\"];\n";
    draw(root_, 1);
    edges();
    return out_ + "}\n";
  }

 private:
  void add(size_t i) {
    const ProgramFacts::Node& node = facts_.nodes[i];
    Block* block = &root_;
    for (const std::string& part : parts_of(node.module)) {
      Block& child = block->children[part];
      child.path = block->path.empty() ? part : block->path + "." + part;
      block = &child;
    }
    block->type = node.module_type.substr(node.module_type.rfind('.') + 1);
    block->nodes.push_back(i);
  }

  // The targets of a block, in order, with the modules that they are in.
  void collect(const Block& block, size_t skip,
               std::vector<size_t>* nodes) const {
    nodes->insert(nodes->end(), block.nodes.begin(), block.nodes.end());
    for (const auto& [name, child] : block.children) {
      collect(child, skip, nodes);
    }
  }
  std::vector<size_t> nodes_of(const Block& block) const {
    std::vector<size_t> nodes;
    collect(block, block.path.size(), &nodes);
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }
  std::string signature(const Block& block) const {
    std::string out;
    for (const size_t i : nodes_of(block)) {
      out += facts_.nodes[i].target + " " +
             facts_.nodes[i].module.substr(block.path.size()) + "\n";
    }
    return out;
  }

  // Blocks 3, 4, 5 that do what block 2 does are drawn as block 2.
  void fold(Block& block) {
    for (auto& [name, child] : block.children) fold(child);
    std::vector<std::pair<int64_t, std::string>> numbered;
    for (const auto& [name, child] : block.children) {
      if (is_number(name) && name.size() < 10) {
        numbered.emplace_back(std::stoll(name), name);
      }
    }
    std::sort(numbered.begin(), numbered.end());
    for (size_t i = 0; i < numbered.size();) {
      Block& first = block.children.at(numbered[i].second);
      const std::string same = signature(first);
      const std::vector<size_t> drawn = nodes_of(first);
      size_t k = i + 1;
      for (; k < numbered.size(); ++k) {
        const Block& next = block.children.at(numbered[k].second);
        if (signature(next) != same) break;
        const std::vector<size_t> hidden = nodes_of(next);
        for (size_t n = 0; n < hidden.size(); ++n) {
          stand_for(hidden[n], drawn[n]);
        }
        ++first.times;
        first.last = next.path;
        block.children.erase(numbered[k].second);
      }
      i = k;
    }
  }

  void stand_for(size_t hidden, size_t drawn) {
    for (size_t& node : stands_for_) {
      if (node == hidden) node = drawn;
    }
  }

  void draw(const Block& block, int depth) {
    const std::string indent(size_t(2 * depth), ' ');
    const bool framed = !block.path.empty();
    if (framed) {
      out_ += indent + "subgraph " + quoted("cluster_" + block.path) + " {\n";
      std::string label = block.path;
      if (block.times > 1) {
        label += " ... " + block.last + " (" + std::to_string(block.times) +
                 " times)";
      }
      if (!block.type.empty()) label += "\\n" + block.type;
      out_ += indent + "  label=\"" + label + "\";\n";
    }
    for (const size_t i : block.nodes) {
      const ProgramFacts::Node& node = facts_.nodes[i];
      const std::string target =
          node.target.substr(node.target.starts_with("aten::") ? 6 : 0);
      out_ += indent + "  n" + std::to_string(i) + " [label=" + quoted(target) +
              (node.is_known ? "" : " fillcolor=\"#ffd9d9\"") + "];\n";
    }
    for (const auto& [name, child] : block.children) draw(child, depth + 1);
    if (framed) out_ += indent + "}\n";
  }

  // Values from the nodes, inputs and parameters that make them.
  void edges() {
    std::map<std::string, std::string> makers;
    for (const auto& [value, name] : facts_.input_values) {
      makers[value] = quoted("in_" + name);
      out_ += "  " + makers[value] + " [shape=ellipse fillcolor=\"#e7f6e7\" " +
              "label=" + quoted(name) + "];\n";
    }
    std::set<std::string> drawn;
    const auto edge = [&](const std::string& from, const std::string& to,
                          bool back) {
      const std::string text = "  " + from + " -> " + to +
                               (back ? " [constraint=false style=dashed]" : "");
      if (drawn.insert(text).second) out_ += text + ";\n";
    };
    std::map<std::string, size_t> nodes;
    for (size_t i = 0; i < facts_.nodes.size(); ++i) {
      if (facts_.nodes[i].depth != 0) continue;
      const size_t to = stands_for_[i];
      for (const std::string& value : facts_.nodes[i].reads) {
        if (const auto at = nodes.find(value); at != nodes.end()) {
          const size_t from = stands_for_[at->second];
          edge("n" + std::to_string(from), "n" + std::to_string(to),
               from >= to);
        } else if (const auto in = makers.find(value); in != makers.end()) {
          edge(in->second, "n" + std::to_string(to), false);
        }
      }
      for (const std::string& value : facts_.nodes[i].makes) nodes[value] = i;
    }
    for (const auto& [value, name] : facts_.output_values) {
      const auto at = nodes.find(value);
      if (at == nodes.end()) continue;
      const std::string to = quoted("out_" + name);
      out_ += "  " + to +
              " [shape=ellipse fillcolor=\"#fdf0dc\" label=" + quoted(name) +
              "];\n";
      edge("n" + std::to_string(stands_for_[at->second]), to, false);
    }
  }

  const ProgramFacts& facts_;
  Block root_;
  std::vector<size_t> stands_for_;  // the drawn node for each
  std::string out_;
};

}  // namespace

void draw_model(const ProgramFacts& facts, const std::string& path) {
  const std::string dot = Picture(facts).dot();
  write_file(path, path.ends_with(".dot") ? dot : svg_of_dot(dot));
}

}  // namespace sy::tools
