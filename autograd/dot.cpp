#include "autograd/dot.h"

#include <unordered_map>
#include <unordered_set>

#include "autograd/accumulate.h"
#include "autograd/meta.h"
#include "autograd/saved_tensor.h"
#include "c10/process/graphviz.h"

namespace sy::autograd {

namespace {

std::string escaped(std::string_view text) {
  std::string r;
  for (const char c : text) {
    if (c == '"' || c == '\\') r += '\\';
    r += c;
  }
  return r;
}

std::string to_text(const SavedMeta& m) {
  return m.defined() ? str("{}{}", dtype_name(m.dtype()), m.sizes())
                     : "no gradient";
}

std::string bytes_text(size_t n) {
  constexpr size_t kKiB = 1024;
  if (n < 10 * kKiB) return str("{} B", n);
  if (n < 10 * kKiB * kKiB) return str("{} KiB", n / kKiB);
  return str("{} MiB", n / kKiB / kKiB);
}

class Writer {
 public:
  // Gives each node a number, in the order that they are found.
  void add(Node& n) {
    if (numbers_.emplace(&n, nodes_.size()).second) nodes_.push_back(&n);
  }
  std::string write() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (uint32_t k = 0; k < nodes_[i]->num_edges(); ++k) {
        if (Node* to = nodes_[i]->edge(k).node.get()) add(*to);
      }
    }
    for (Node* n : nodes_) node(*n);
    return str(
        "digraph {{\n  rankdir=TB;\n  label=\"{} nodes, {} saved\";\n  node "
        "[shape=box, fontname=\"sans-serif\", fontsize=10];\n{}}}\n",
        nodes_.size(), bytes_text(bytes_), text_);
  }

 private:
  std::string id(const Node& n) const { return str("n{}", numbers_.at(&n)); }

  void node(Node& n) {
    std::string label = escaped(n.name());
    for (uint32_t i = 0; i < n.num_outputs(); ++i) {
      label += "\\n" + to_text(n.output(i));
    }
    const bool leaf = dynamic_cast<const AccumulateGrad*>(&n) != nullptr;
    text_ += str("  {} [label=\"{}\"{}];\n", id(n), label,
                 leaf ? ", shape=ellipse" : "");
    for (uint32_t k = 0; k < n.num_edges(); ++k) {
      const Edge& e = n.edge(k);
      if (!e.node) continue;
      text_ += str("  {} -> {}", id(n), id(*e.node));
      if (e.node->num_outputs() > 1) text_ += str(" [label={}]", e.input_nr);
      text_ += ";\n";
    }
    saved(n);
  }

  void saved(Node& n) {
    std::string lines;
    for (const SavedView& s : saved_tensors(n)) {
      if (!lines.empty()) lines += "\\l";
      lines += escaped(s.name) + ": ";
      if (s.released) {
        lines += "freed";
        continue;
      }
      if (!s.tensor.defined()) {
        lines += "none";
        continue;
      }
      lines +=
          str("{}{}", dtype_name(s.tensor.scalar_type()), s.tensor.sizes());
      if (s.packed) {
        lines += ", packed";
        continue;
      }
      if (s.is_output) lines += ", result";
      lines += ", " + bytes_text(s.tensor.nbytes());
      const StorageImpl* memory = s.tensor.storage().get();
      if (memory->data() != nullptr && storages_.insert(memory).second) {
        bytes_ += memory->nbytes();
      }
    }
    if (lines.empty()) return;
    text_ +=
        str("  s{} [label=\"{}\\l\", shape=note, style=dashed];\n  s{} -> {} "
            "[style=dashed, arrowhead=none];\n",
            numbers_.at(&n), lines, numbers_.at(&n), id(n));
  }

  std::vector<Node*> nodes_;
  std::unordered_map<const Node*, size_t> numbers_;
  std::unordered_set<const StorageImpl*> storages_;
  size_t bytes_ = 0;
  std::string text_;
};

}  // namespace

std::string dot(TensorList tensors) {
  std::vector<Edge> roots;
  Writer w;
  for (size_t i = 0; i < tensors.size(); ++i) {
    SY_CHECK(tensors[i].defined(), Value,
             "[dot] tensors[{}]: expected a tensor, got an undefined one", i);
    roots.push_back(gradient_edge(*tensors[i].impl()));
    SY_CHECK(
        roots.back().node, Value,
        "[dot] tensors[{}]: expected a tensor that requires a gradient, got {}",
        i, describe(tensors[i]));
    w.add(*roots.back().node);
  }
  return w.write();
}

std::string svg(TensorList tensors) { return svg_of_dot(dot(tensors)); }

}  // namespace sy::autograd
