#include "backends/lazy/groups.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "backends/lazy/plan.h"

namespace sy::lazy {

namespace {

constexpr size_t kMaxDims = 8;

bool can_fuse(const LazyNode& n) {
  if (n.kind != LazyNode::kPointwise && n.kind != LazyNode::kReduce)
    return false;
  const ValueLayout& l = walked_layout(n);
  if (l.numel == 0 || n.made[0].layout.numel == 0) return false;
  size_t dims = 0;
  bool reduces = n.kind != LazyNode::kReduce;
  for (int64_t d = 0; d < l.dim(); ++d) {
    if (l.sizes()[d] == 1) continue;
    ++dims;
    reduces |= (n.reduced >> d & 1) != 0;
  }
  return reduces && dims <= kMaxDims;
}

class Builder {
 public:
  explicit Builder(const RecordedGraph& graph) : graph_(graph) {
    const size_t n = graph.nodes.size();
    out_.of.assign(n, -1);
    out_.walked.resize(n);
    out_.result_dims.resize(n);
  }

  Groups build() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) place(static_cast<int>(i));
    return in_order();
  }

 private:
  const LazyNode& node(int i) const {
    return *graph_.nodes[static_cast<size_t>(i)];
  }
  Group& group(int g) { return out_.groups[static_cast<size_t>(g)]; }
  int group_of(const Operand& o) const {
    return o.node->index < 0 ? -1 : out_.of[static_cast<size_t>(o.node->index)];
  }

  void place(int i) {
    const LazyNode& n = node(i);
    if (!can_fuse(n)) return start(i, false);
    int home = -1;
    for (const Operand& o : n.operands) {
      const int g = group_of(o);
      if (g < 0 || g == home || !group(g).fused) continue;
      if (home < 0) {
        if (joins(i, g)) home = g;
        continue;
      }
      merge(g, home, i);
    }
    if (home < 0) start(i, true);
  }

  void start(int i, bool fused) {
    const int g = static_cast<int>(out_.groups.size());
    out_.groups.emplace_back();
    group(g).fused = fused;
    group(g).nodes.push_back(i);
    out_.of[static_cast<size_t>(i)] = g;
    if (!fused) return;
    const ValueLayout& l = walked_layout(node(i));
    DimMap dims;
    for (const int64_t s : l.sizes()) {
      dims.push_back(static_cast<int8_t>(s == 1 ? -1 : group(g).space.size()));
      if (s != 1) group(g).space.push_back(s);
    }
    set_dims(i, std::move(dims));
  }

  void set_dims(int i, DimMap walked) {
    const LazyNode& n = node(i);
    DimMap& out = out_.result_dims[static_cast<size_t>(i)];
    if (n.kind != LazyNode::kReduce) {
      out = walked;
    } else {
      for (size_t d = 0; d < walked.size(); ++d) {
        if ((n.reduced >> d & 1) == 0) {
          out.push_back(walked[d]);
        } else if (n.keepdim) {
          out.push_back(-1);
        }
      }
    }
    out_.walked[static_cast<size_t>(i)] = std::move(walked);
  }

  // The dims of group g that the dims of node i are, as its operands in g say;
  // of dims that they leave open, others of the same size: no value of the
  // group varies over these for the node.
  std::optional<DimMap> dims_in(int i, int g) {
    const LazyNode& n = node(i);
    const ValueLayout& l = walked_layout(n);
    DimMap dims(static_cast<size_t>(l.dim()), -1);
    for (const Operand& o : n.operands) {
      if (group_of(o) != g) continue;
      DimMap own;
      if (!map_dims(o.layout(), o.node->made[o.result].layout, &own)) {
        return std::nullopt;
      }
      const DimMap& of = out_.result_dims[static_cast<size_t>(o.node->index)];
      const size_t shift = dims.size() - own.size();
      for (size_t d = 0; d < own.size(); ++d) {
        if (own[d] < 0) continue;
        const int8_t at = of[static_cast<size_t>(own[d])];
        int8_t& dim = dims[shift + d];
        if (at < 0) continue;
        if (dim >= 0 && dim != at) return std::nullopt;
        dim = at;
      }
    }
    uint64_t used = 0;
    for (const int8_t d : dims) {
      if (d < 0) continue;
      if ((used >> d & 1) != 0) return std::nullopt;
      used |= uint64_t{1} << d;
    }
    const std::vector<int64_t>& space = group(g).space;
    for (size_t d = dims.size(); d-- > 0;) {
      if (l.sizes()[d] == 1 || dims[d] >= 0) continue;
      for (size_t k = space.size(); k-- > 0 && dims[d] < 0;) {
        if ((used >> k & 1) == 0 && space[k] == l.sizes()[d]) {
          dims[d] = static_cast<int8_t>(k);
        }
      }
      if (dims[d] < 0) return std::nullopt;
      used |= uint64_t{1} << dims[d];
    }
    return dims;
  }

  bool joins(int i, int g) {
    const std::optional<DimMap> dims = dims_in(i, g);
    if (!dims || group(g).nodes.size() >= kMaxNodes) return false;
    for (const Operand& o : node(i).operands) {
      const int h = group_of(o);
      if (h >= 0 && h != g && needs(h, g)) return false;
    }
    if (operands_of({g}, i) > kMaxOperands) return false;
    group(g).nodes.push_back(i);
    out_.of[static_cast<size_t>(i)] = g;
    set_dims(i, *dims);
    return true;
  }

  // Makes one group of g and `home`, which has node i; g has operands of i.
  void merge(int g, int home, int i) {
    const std::optional<DimMap> dims = dims_in(i, g);
    if (!dims) return;
    Group& from = group(g);
    Group& to = group(home);
    if (from.nodes.size() + to.nodes.size() > kMaxNodes) return;
    DimMap there(from.space.size(), -1);
    const DimMap& here = out_.walked[static_cast<size_t>(i)];
    for (size_t d = 0; d < dims->size(); ++d) {
      if ((*dims)[d] >= 0) there[static_cast<size_t>((*dims)[d])] = here[d];
    }
    if (std::find(there.begin(), there.end(), -1) != there.end()) return;
    if (!reads_alike(g, home, there)) return;
    if (needs_beside(g, home) || needs_beside(home, g)) return;
    if (operands_of({g, home}, i) > kMaxOperands) return;
    const auto rename = [&](DimMap& m) {
      for (int8_t& d : m)
        d = static_cast<int8_t>(d < 0 ? -1 : there[size_t(d)]);
    };
    for (const int k : from.nodes) {
      rename(out_.walked[static_cast<size_t>(k)]);
      rename(out_.result_dims[static_cast<size_t>(k)]);
      out_.of[static_cast<size_t>(k)] = home;
    }
    to.nodes.insert(to.nodes.end(), from.nodes.begin(), from.nodes.end());
    std::sort(to.nodes.begin(), to.nodes.end());
    from.nodes.clear();
  }

  // Whether nodes of one of the two groups see values of the other along their
  // own dims, once dims of g are those that `there` says.
  bool reads_alike(int g, int home, const DimMap& there) {
    const auto renamed = [&](int8_t d) {
      return d < 0 ? d : there[static_cast<size_t>(d)];
    };
    for (const int reader : {g, home}) {
      for (const int k : group(reader).nodes) {
        const DimMap& walked = out_.walked[static_cast<size_t>(k)];
        for (const Operand& o : node(k).operands) {
          if (group_of(o) != (reader == g ? home : g)) continue;
          DimMap own;
          if (!map_dims(o.layout(), o.node->made[o.result].layout, &own)) {
            return false;
          }
          const DimMap& of =
              out_.result_dims[static_cast<size_t>(o.node->index)];
          const size_t shift = walked.size() - own.size();
          for (size_t d = 0; d < own.size(); ++d) {
            if (own[d] < 0) continue;
            const int8_t read = of[static_cast<size_t>(own[d])];
            const int8_t here = walked[shift + d];
            if (read < 0) continue;
            if (reader == g ? renamed(here) != read : renamed(read) != here) {
              return false;
            }
          }
        }
      }
    }
    return true;
  }

  // Whether group g needs a result of `target`.
  bool needs(int g, int target) {
    std::vector<bool> seen(out_.groups.size(), false);
    std::vector<int> stack{g};
    while (!stack.empty()) {
      const int at = stack.back();
      stack.pop_back();
      if (at == target) return true;
      if (seen[static_cast<size_t>(at)]) continue;
      seen[static_cast<size_t>(at)] = true;
      for (const int i : group(at).nodes) {
        for (const Operand& o : node(i).operands) {
          const int h = group_of(o);
          if (h >= 0 && h != at) stack.push_back(h);
        }
      }
    }
    return false;
  }
  // Whether it does by way of a third one.
  bool needs_beside(int g, int target) {
    for (const int i : group(g).nodes) {
      for (const Operand& o : node(i).operands) {
        const int h = group_of(o);
        if (h >= 0 && h != g && h != target && needs(h, target)) return true;
      }
    }
    return false;
  }

  // How many values from outside the groups and node i read at most.
  size_t operands_of(std::initializer_list<int> groups, int i) {
    std::vector<std::pair<const LazyNode*, int>> seen;
    const auto add = [&](const LazyNode& n) {
      for (const Operand& o : n.operands) {
        const int h = group_of(o);
        if (std::find(groups.begin(), groups.end(), h) != groups.end())
          continue;
        const std::pair<const LazyNode*, int> v(o.node.get(), o.result);
        if (o.part || std::find(seen.begin(), seen.end(), v) == seen.end()) {
          seen.push_back(v);
        }
      }
    };
    for (const int g : groups) {
      for (const int k : group(g).nodes) add(node(k));
    }
    add(node(i));
    return seen.size();
  }

  Groups in_order() {
    std::vector<int> order, place(out_.groups.size(), -1);
    std::vector<bool> seen(out_.groups.size(), false);
    // Depth first, with a stack of its own: graphs are deep.
    std::vector<std::pair<int, bool>> stack;
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      stack.push_back({out_.of[i], false});
    }
    while (!stack.empty()) {
      const auto [g, ready] = stack.back();
      stack.pop_back();
      if (ready) {
        place[static_cast<size_t>(g)] = static_cast<int>(order.size());
        order.push_back(g);
        continue;
      }
      if (seen[static_cast<size_t>(g)]) continue;
      seen[static_cast<size_t>(g)] = true;
      stack.push_back({g, true});
      for (const int i : group(g).nodes) {
        for (const Operand& o : node(i).operands) {
          const int h = group_of(o);
          if (h >= 0 && h != g) stack.push_back({h, false});
        }
      }
    }
    std::vector<Group> sorted;
    for (const int g : order) sorted.push_back(std::move(group(g)));
    out_.groups = std::move(sorted);
    for (int& g : out_.of) g = place[static_cast<size_t>(g)];
    return std::move(out_);
  }

  const RecordedGraph& graph_;
  Groups out_;
};

}  // namespace

const Group::Guest* Group::guest(int node) const {
  for (const Guest& x : guests) {
    if (x.node == node) return &x;
  }
  return nullptr;
}

const DimMap& Groups::walked_in(const Group& g, int node) const {
  const Group::Guest* const guest = g.guest(node);
  return guest != nullptr ? guest->walked : walked[size_t(node)];
}

const DimMap& Groups::result_dims_in(const Group& g, int node) const {
  const Group::Guest* const guest = g.guest(node);
  return guest != nullptr ? guest->walked : result_dims[size_t(node)];
}

Groups make_groups(const RecordedGraph& graph) {
  return Builder(graph).build();
}

}  // namespace sy::lazy
