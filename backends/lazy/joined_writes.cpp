#include "backends/lazy/joined_writes.h"

#include <algorithm>
#include <optional>

#include "backends/lazy/constants.h"

namespace sy::lazy {

namespace {

const OperatorEntry* add_entry() {
  const ForkSection section;
  static const OperatorEntry* const e =
      &Dispatcher::singleton().find_or_throw("aten::add.Tensor").entry();
  return e;
}

bool is_zero(const Operand& o) {
  return is_constant(*o.node) && !o.part &&
         o.node->args[0].to_scalar().to<double>() == 0;
}

// The indices of a value's dims that a window covers.
struct Box {
  std::vector<int64_t> begin, end;

  bool overlaps(const Box& o) const {
    for (size_t d = 0; d < begin.size(); ++d) {
      if (end[d] <= o.begin[d] || o.end[d] <= begin[d]) return false;
    }
    return true;
  }
};

// Absent for windows that are none: with steps, or over the ends of rows.
std::optional<Box> box_of(const ValueLayout& window, const ValueLayout& of) {
  Box box;
  int64_t rest = window.offset, covered = 1;
  for (int64_t d = 0; d < of.dim(); ++d) {
    const int64_t stride = of.strides()[size_t(d)];
    const int64_t size = of.sizes()[size_t(d)];
    // Row-major values only: the first dim is the slowest.
    if (stride <= 0 || (d > 0 && stride > of.strides()[size_t(d - 1)])) {
      return std::nullopt;
    }
    const int64_t first = rest / stride;
    rest %= stride;
    int64_t length = 1;
    for (int64_t k = 0; k < window.dim() && size > 1; ++k) {
      if (window.strides()[size_t(k)] == stride &&
          window.sizes()[size_t(k)] > 1) {
        length = window.sizes()[size_t(k)];
      }
    }
    if (first + length > size) return std::nullopt;
    covered *= length;
    box.begin.push_back(first);
    box.end.push_back(first + length);
  }
  if (covered != window.numel) return std::nullopt;
  return box;
}

class Joiner {
 public:
  explicit Joiner(std::vector<intrusive_ptr<LazyNode>>* nodes)
      : nodes_(*nodes) {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i]->index = static_cast<int>(i);
    }
    boxes_.resize(nodes_.size());
    dead_.resize(nodes_.size(), false);
  }

  void run() {
    for (const auto& n : nodes_) {
      if (n->kind == LazyNode::kWrite) {
        begin(*n);
      } else if (is_sum(*n)) {
        join(*n);
      }
    }
    size_t kept = 0;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!dead_[i]) nodes_[kept++] = nodes_[i];
    }
    nodes_.resize(kept);
  }

 private:
  using Boxes = std::vector<Box>;

  // A part written to zeros.
  void begin(const LazyNode& n) {
    if (!is_zero(n.operands[0])) return;
    if (const auto box = box_of(*n.window, n.made[0].layout)) {
      boxes_of(n) = {*box};
    }
  }

  static bool is_sum(const LazyNode& n) {
    return n.kind == LazyNode::kPointwise && n.op == add_entry() &&
           n.uniforms.empty() && n.operands.size() == 2 && n.made.size() == 1;
  }

  Boxes& boxes_of(const LazyNode& n) { return boxes_[size_t(n.index)]; }

  // Whether the operand is a write that nobody but the sum reads.
  bool is_ours(const Operand& o, const LazyNode& sum) {
    const LazyNode& n = *o.node;
    return n.state == LazyNode::kRecorded && n.kind == LazyNode::kWrite &&
           !o.part && !boxes_of(n).empty() && n.made[0].uses == 1 &&
           n.made[0].holders == 0 && n.made[0].layout == sum.made[0].layout;
  }

  void join(LazyNode& sum) {
    for (const Operand& o : sum.operands) {
      if (!is_ours(o, sum)) return;
    }
    // The one that is a single write is taken apart.
    const size_t whole = boxes_of(*sum.operands[1].node).size() == 1 ? 0 : 1;
    const intrusive_ptr<LazyNode> to = sum.operands[whole].node;
    const intrusive_ptr<LazyNode> from = sum.operands[1 - whole].node;
    Boxes boxes = boxes_of(*to);
    const Boxes& more = boxes_of(*from);
    if (more.size() != 1) return;
    for (const Box& b : boxes) {
      if (b.overlaps(more[0])) return;
    }
    boxes.push_back(more[0]);
    const intrusive_ptr<LazyNode> zeros = from->operands[0].node;
    Operand base, part;
    base.node = to;
    part.node = from->operands[1].node;
    part.result = from->operands[1].result;
    if (from->operands[1].part) {
      part.part = std::make_unique<ValueLayout>(*from->operands[1].part);
    }
    sum.kind = LazyNode::kWrite;
    sum.op = nullptr;
    sum.program = nullptr;
    sum.args.clear();
    sum.tensors = 0;
    sum.window = std::move(from->window);
    sum.drop_operands();
    sum.released = false;
    sum.add_operand(std::move(base));
    sum.add_operand(std::move(part));
    boxes_of(sum) = std::move(boxes);
    kill(*from);
    if (zeros->made[0].uses == 0 && zeros->made[0].holders == 0) kill(*zeros);
  }

  void kill(LazyNode& n) {
    n.drop_operands();
    if (n.state == LazyNode::kRecorded) dead_[size_t(n.index)] = true;
  }

  std::vector<intrusive_ptr<LazyNode>>& nodes_;
  std::vector<Boxes> boxes_;  // of a node: where its value is not zero
  std::vector<bool> dead_;
};

}  // namespace

void join_writes(std::vector<intrusive_ptr<LazyNode>>* nodes) {
  const auto writes =
      std::count_if(nodes->begin(), nodes->end(),
                    [](const auto& n) { return n->kind == LazyNode::kWrite; });
  if (writes > 1) Joiner(nodes).run();
}

}  // namespace sy::lazy
