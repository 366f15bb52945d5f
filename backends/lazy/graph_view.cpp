#include "backends/lazy/graph_view.h"

#include <algorithm>
#include <bit>

#include "aten/engine/copy.h"
#include "backends/lazy/run_node.h"
#include "c10/dispatch/thread_state.h"
#include "c10/dispatch/trace.h"
#include "c10/process/error.h"

namespace sy::lazy {

namespace {

graph::Call::Kind kind_of(const LazyNode& n) {
  switch (n.kind) {
    case LazyNode::kEmpty: return graph::Call::kEmpty;
    case LazyNode::kPointwise: return graph::Call::kPointwise;
    case LazyNode::kReduce: return graph::Call::kReduce;
    case LazyNode::kWrite: return graph::Call::kWrite;
    default: return graph::Call::kOperator;
  }
}

// Runs a node on tensors that are given.
class GivenMemory final : public NodeMemory {
 public:
  GivenMemory(const LazyNode& node, Device device, ArrayRef<Tensor> operands,
              Storage* results)
      : node_(node), device_(device), operands_(operands), results_(results) {}

  Device device() const override { return device_; }
  Tensor operand(size_t k) override {
    if (!node_.operands[k].wrapped_number) return operands_[k];
    Tensor t(TensorBase(operands_[k].impl()->alias()));
    t.impl()->set_wrapped_number(true);
    return t;
  }
  Storage taken(size_t k) override {
    const Operand& o = node_.operands[k];
    const ValueLayout& l = o.node->made[o.result].layout;
    Storage to = StorageImpl::allocate(l.bytes(), device_);
    copy_tensor(tensor_in(to, l), operands_[k]);
    return to;
  }
  void set(size_t result, Storage memory) override {
    results_[result] = std::move(memory);
  }

 private:
  const LazyNode& node_;
  const Device device_;
  const ArrayRef<Tensor> operands_;
  Storage* const results_;
};

void add(std::vector<uint64_t>* to, const graph::Layout& l) {
  to->push_back(static_cast<uint64_t>(l.dtype) << 32 | l.sizes.size());
  to->push_back(static_cast<uint64_t>(l.offset));
  for (const int64_t s : l.sizes) to->push_back(static_cast<uint64_t>(s));
  for (const int64_t s : l.strides) to->push_back(static_cast<uint64_t>(s));
}

void add(std::vector<uint64_t>* to, const Value& v) {
  to->push_back(static_cast<uint64_t>(v.tag()));
  if (v.is_none()) return;
  const std::string text = to_string(v);
  to->push_back(text.size());
  for (const char c : text) to->push_back(static_cast<unsigned char>(c));
}

}  // namespace

GraphView::GraphView(const RecordedGraph& graph,
                     const std::vector<RegionResult>& outputs)
    : graph_(graph) {
  device_ = graph.device;
  for (size_t i = 0; i < graph.data.size(); ++i) {
    const LazyNode& n = *graph.data[i];
    first_[&n] = static_cast<int>(values_.size());
    for (size_t r = 0; r < n.made.size(); ++r) {
      values_.push_back(view_of(n.made[r].layout));
      inputs_.push_back({-1 - static_cast<int>(i), static_cast<int>(r)});
    }
  }
  num_inputs_ = static_cast<int>(values_.size());
  operands_.resize(graph.nodes.size());
  for (const auto& n : graph.nodes) {
    first_[n.get()] = static_cast<int>(values_.size());
    calls_.push_back(call_of(*n));
    for (const Made& m : n->made) values_.push_back(view_of(m.layout));
  }
  for (const RegionResult& r : outputs) {
    const LazyNode* const n = graph.nodes[size_t(r.value.node)].get();
    outputs_.push_back(first_[n] + r.value.result);
  }
}

graph::Call GraphView::call_of(const LazyNode& n) {
  std::vector<graph::Operand>& operands = operands_[calls_.size()];
  for (const Operand& o : n.operands) {
    operands.push_back({first_.at(o.node.get()) + o.result, o.part == nullptr,
                        view_of(o.layout())});
  }
  graph::Call c;
  c.kind = kind_of(n);
  c.keepdim = n.keepdim;
  c.draws = n.op != nullptr && n.op->has_flag(OperatorDef::kRandom);
  c.compute = n.compute;
  c.name = n.name();
  c.op = c.kind == graph::Call::kEmpty ? nullptr : n.op;
  c.operands = {operands.data(), operands.size()};
  c.first_result = static_cast<int>(values_.size());
  c.n_results = static_cast<int>(n.made.size());
  c.program = n.program;
  c.reduce = n.reduce;
  c.reduced = n.reduced;
  c.uniforms =
      ArrayRef<program::Uniform>(n.uniforms.begin(), n.uniforms.size());
  c.args = ArrayRef<Value>(n.args.begin(), n.args.size());
  c.written = {n.written.data(), n.written.size()};
  if (n.window) c.window = view_of(*n.window);
  return c;
}

void GraphView::run_call(int i, ArrayRef<Tensor> operands,
                         Storage* results) const {
  const LazyNode& n = *graph_.nodes[size_t(i)];
  const PlainModes modes;
  GivenMemory memory(n, device_, operands, results);
  NodeScratch scratch;
  try {
    run_node(n, memory, &scratch);
  } catch (Error& e) {
    if (n.op != nullptr) n.op->name_in(e);
    throw;
  }
}

std::vector<uint64_t> GraphView::words() const {
  std::vector<uint64_t> w;
  for (const graph::Layout& l : values_) add(&w, l);
  for (const graph::Call& c : calls_) {
    w.push_back(c.operands.size() << 8 | c.kind);
    w.push_back(c.reduced);
    for (const graph::Operand& o : c.operands) {
      w.push_back(static_cast<uint64_t>(o.value) << 1 | uint64_t(o.whole));
      if (!o.whole) add(&w, o.layout);
    }
    if (c.kind == graph::Call::kOperator) {
      for (const Value& v : c.args) add(&w, v);
    }
    if (c.kind == graph::Call::kWrite) add(&w, c.window);
  }
  return w;
}

intrusive_ptr<graph::Executable> Executables::find(const GraphView& graph,
                                                   const GraphEngine& engine) {
  std::vector<uint64_t> words = graph.words();
  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(words);
  if (at != entries_.end()) {
    at->second.used = ++clock_;
    return at->second.executable;
  }
  Entry entry;
  entry.used = ++clock_;
  const TraceSpan span("lazy compile", [&] {
    return str("{} calls by {}", graph.calls().size(), engine.name);
  });
  try {
    entry.executable = engine.compiler->compile(graph, engine.argument);
  } catch (const NotImplementedError& e) {
    refused_ = e.what();
  }
  if (entries_.size() >= kMost) {
    entries_.erase(std::min_element(entries_.begin(), entries_.end(),
                                    [](const auto& a, const auto& b) {
                                      return a.second.used < b.second.used;
                                    }));
  }
  return entries_.emplace(std::move(words), std::move(entry))
      .first->second.executable;
}

std::string Executables::text() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [words, e] : entries_) {
    if (e.executable != nullptr) text += e.executable->text();
  }
  if (!refused_.empty()) text += str("not taken: {}\n", refused_);
  return text;
}

}  // namespace sy::lazy
