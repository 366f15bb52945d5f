#include <algorithm>
#include <optional>
#include <set>

#include "backends/lazy/groups.h"
#include "backends/lazy/plan.h"

// Values that are computed again by each group that reads them, instead of
// being stored: constants, and broadcasts of values that are much smaller than
// their result (a mask made of a row and a column, a bias that is expanded).

namespace sy::lazy {

namespace {

// Primitives that cost no more than a load.
bool is_light(lang::Prim p) {
  using enum lang::Prim;
  switch (p) {
    case copy:
    case neg:
    case abs:
    case square:
    case add:
    case sub:
    case mul:
    case maximum:
    case minimum:
    case fma:
    case clamp:
    case bitwise_not:
    case bitwise_and:
    case bitwise_or:
    case bitwise_xor:
    case eq:
    case ne:
    case lt:
    case le:
    case gt:
    case ge:
    case isnan:
    case truth:
    case logical_not:
    case logical_and:
    case logical_or:
    case logical_xor:
    case select:
    case from_bool: return true;
    default: return false;
  }
}

constexpr int kMaxSteps = 2;
// A result this many times as large as what it is made of is worth no memory.
constexpr size_t kLarger = 4;

bool is_cheap(const LazyNode& n) {
  if (n.kind != LazyNode::kPointwise || n.made.size() != 1 ||
      n.program->n_steps > kMaxSteps) {
    return false;
  }
  for (int i = 0; i < n.program->n_steps; ++i) {
    if (!is_light(n.program->steps[i].op)) return false;
  }
  size_t read = 0;
  for (const Operand& o : n.operands) {
    read += std::min(o.layout().bytes(), o.node->made[o.result].layout.bytes());
  }
  return kLarger * read <= n.made[0].layout.bytes();
}

class Inviter {
 public:
  Inviter(const RecordedGraph& graph,
          const std::vector<std::vector<bool>>& wanted, Groups* groups)
      : graph_(graph), wanted_(wanted), groups_(*groups) {}

  void run() {
    bool any = false;
    for (Group& g : groups_.groups) {
      // A node that is invited may read something cheap itself.
      for (size_t k = 0; g.fused && k < g.nodes.size(); ++k) {
        for (const Operand& o : node(g.nodes[k]).operands) {
          any |= invite(g, o.node->index);
        }
      }
      std::sort(g.nodes.begin(), g.nodes.end());
    }
    if (any) drop_unread();
  }

 private:
  const LazyNode& node(int i) const { return *graph_.nodes[size_t(i)]; }

  bool invite(Group& g, int i) {
    if (i < 0 || groups_.has(g, i) || g.nodes.size() >= kMaxNodes ||
        !groups_.groups[size_t(groups_.of[size_t(i)])].fused ||
        !is_cheap(node(i))) {
      return false;
    }
    std::optional<DimMap> dims = dims_for_readers(g, i);
    if (!dims || !reads_alike(g, i, *dims)) return false;
    g.guests.push_back({i, std::move(*dims)});
    g.nodes.push_back(i);
    if (count_inputs(g) <= kMaxOperands) return true;
    g.guests.pop_back();
    g.nodes.pop_back();
    return false;
  }

  // The dims of g that node i's are, if all of its readers in g agree.
  std::optional<DimMap> dims_for_readers(const Group& g, int i) const {
    const ValueLayout& made = node(i).made[0].layout;
    std::optional<DimMap> dims;
    for (const int k : g.nodes) {
      const DimMap& walked = groups_.walked_in(g, k);
      for (const Operand& o : node(k).operands) {
        if (o.node->index != i) continue;
        DimMap own;
        if (!map_dims(o.layout(), made, &own)) return std::nullopt;
        DimMap seen(static_cast<size_t>(made.dim()), -1);
        const size_t shift = walked.size() - own.size();
        for (size_t d = 0; d < own.size(); ++d) {
          if (own[d] >= 0) seen[size_t(own[d])] = walked[shift + d];
        }
        if (dims && *dims != seen) return std::nullopt;
        dims = std::move(seen);
      }
    }
    return dims;
  }

  // Whether node i, with these dims, sees the values of g along their own.
  bool reads_alike(const Group& g, int i, const DimMap& dims) const {
    for (const Operand& o : node(i).operands) {
      if (!groups_.has(g, o.node->index)) continue;
      DimMap own;
      if (!map_dims(o.layout(), o.node->made[o.result].layout, &own)) {
        return false;
      }
      const DimMap& of = groups_.result_dims_in(g, o.node->index);
      const size_t shift = dims.size() - own.size();
      for (size_t d = 0; d < own.size(); ++d) {
        if (own[d] >= 0 && of[size_t(own[d])] != dims[shift + d]) return false;
      }
    }
    return true;
  }

  size_t count_inputs(const Group& g) const {
    std::vector<std::pair<const LazyNode*, int>> seen;
    for (const int k : g.nodes) {
      for (const Operand& o : node(k).operands) {
        const std::pair<const LazyNode*, int> v(o.node.get(), o.result);
        if (groups_.has(g, o.node->index)) continue;
        if (o.part || std::find(seen.begin(), seen.end(), v) == seen.end()) {
          seen.push_back(v);
        }
      }
    }
    return seen.size();
  }

  // Takes out what nobody reads any more: nodes whose guests are read instead,
  // and guests of such nodes.
  void drop_unread() {
    std::vector<bool> whole(groups_.groups.size(), false);
    for (bool again = true; again;) {
      again = false;
      find_read(whole);
      for (size_t g = 0; g < whole.size(); ++g) {
        if (walks_all(g)) continue;
        whole[g] = true;  // it needs all of its nodes
        again = true;
      }
    }
    for (size_t g = 0; g < groups_.groups.size(); ++g) {
      Group& group = groups_.groups[g];
      std::erase_if(group.nodes, [&](int i) { return !read_[g].count(i); });
      std::erase_if(group.guests, [&](const Group::Guest& x) {
        return !read_[g].count(x.node);
      });
    }
  }

  // The nodes of each group that are read, or that are nowhere else.
  void find_read(const std::vector<bool>& whole) {
    read_.assign(groups_.groups.size(), {});
    std::vector<bool> elsewhere(graph_.nodes.size(), false);
    for (const Group& g : groups_.groups) {
      for (const Group::Guest& x : g.guests) elsewhere[size_t(x.node)] = true;
    }
    std::vector<std::pair<size_t, int>> stack;  // a group and a node
    const auto visit = [&](size_t g, int i) {
      if (read_[g].insert(i).second) stack.push_back({g, i});
    };
    for (size_t i = 0; i < elsewhere.size(); ++i) {
      const auto g = static_cast<size_t>(groups_.of[i]);
      if (!elsewhere[i] || wanted_[i][0] || whole[g]) {
        visit(g, static_cast<int>(i));
      }
    }
    while (!stack.empty()) {
      const auto [g, k] = stack.back();
      stack.pop_back();
      for (const Operand& o : node(k).operands) {
        const int i = o.node->index;
        if (i < 0) continue;
        const bool here = groups_.groups[g].guest(i) != nullptr;
        visit(here ? g : static_cast<size_t>(groups_.of[size_t(i)]), i);
      }
    }
  }

  // Whether what is read walks each dim of the space, if anything is.
  bool walks_all(size_t g) const {
    uint64_t walked = 0;
    for (const int k : read_[g]) {
      for (const int8_t d : groups_.walked_in(groups_.groups[g], k)) {
        if (d >= 0) walked |= uint64_t{1} << d;
      }
    }
    return read_[g].empty() ||
           walked + 1 == uint64_t{1} << groups_.groups[g].space.size();
  }

  const RecordedGraph& graph_;
  const std::vector<std::vector<bool>>& wanted_;
  Groups& groups_;
  std::vector<std::set<int>> read_;  // by group
};

}  // namespace

void recompute_cheap(const RecordedGraph& graph,
                     const std::vector<std::vector<bool>>& wanted,
                     Groups* groups) {
  Inviter(graph, wanted, groups).run();
}

}  // namespace sy::lazy
