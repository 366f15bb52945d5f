#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "backends/lazy/capture.h"
#include "backends/lazy/captured_graph.h"
#include "backends/lazy/constants.h"
#include "backends/lazy/executor.h"
#include "backends/lazy/look.h"
#include "c10/device/backend.h"
#include "c10/device/backend_service.h"
#include "c10/plugin/library.h"
#include "c10/process/error.h"

namespace sy::lazy {

// Turns what a capture has recorded into graphs.
class Finish {
 public:
  Finish(Capture& capture, std::vector<Storage>* values)
      : c_(capture), run_values_(values) {}

  capture::Graphs make(TensorList results, TensorList gradients) {
    GraphLock lock(graph_mutex());
    c_.drop_dead();
    for (const Tensor& t : results) results_.push_back(result_of(t, &values_));
    const size_t wanted = values_.size();
    std::vector<ValueOf> backward_values;
    std::vector<capture::Result> backward_results;
    storages_.clear();
    for (const Tensor& t : gradients) {
      backward_results.push_back(result_of(t, &backward_values));
    }
    find_escaped(results, gradients);
    for (Capture::Entry& e : c_.entries_) {
      if (!e.fresh) input_of(e);
    }
    store_constants();
    std::vector<Captured> roots = roots_of(values_);
    for (const Capture::Entry& e : c_.entries_) {
      if (e.written && !e.fresh) add_root(e.value->node, &roots);
    }
    std::vector<Captured> backward_roots = roots_of(backward_values);
    add_ordered(&roots, &backward_roots);
    forget_unneeded(roots, backward_roots);

    capture::Graphs out;
    out.escaped = escaped_text_;
    CapturedGraph::Parts parts;
    parts.values = values_;
    if (!gradients.empty()) {
      RecordedGraph rest = split(roots, backward_roots);
      out.backward =
          backward_graph(std::move(rest), std::move(backward_results),
                         std::move(backward_values), &parts.values);
    }
    parts.draws = !c_.ordered_.empty();
    parts.graph = collect(roots);
    parts.graph.device = c_.device();
    parts.graph.engine = &c_.engine();
    keep_constants(parts.graph);
    std::set<const LazyNode*> used;  // inputs that the graph reads
    for (const Captured& d : parts.graph.data) used.insert(d.get());
    for (const Capture::Entry* e : entries_) {
      const LazyNode& to = *e->value->node;
      if (!e->written || !used.contains(e->data.get()) ||
          to.kind == LazyNode::kData) {
        continue;
      }
      parts.graph.homes.push_back({to.index, e->value->result, e->data->index});
    }
    for (const ValueOf& v : parts.values) used.insert(v.node.get());
    for (const Capture::Entry* e : entries_) {
      if (e->written) used.insert(e->value->node.get());
    }
    parts.inputs = inputs_;
    for (size_t i = 0; i < entries_.size(); ++i) {
      Capture::Entry& e = *entries_[i];
      parts.data.push_back(used.contains(e.data.get()) ? e.data : nullptr);
      parts.after.push_back(e.written ? ValueOf{e.value->node, e.value->result}
                                      : ValueOf{});
    }
    parts.results = results_;
    out.forward = std::make_unique<CapturedGraph>(std::move(parts));
    lock.unlock();
    run(*out.forward, wanted);
    out.seen = std::move(seen_);
    return out;
  }
  // Storages that live on and are no results: they have the last values.
  std::vector<Storage> living() const { return escaped_; }

 private:
  // A small constant that a kernel reads is stored once, not at each run.
  void store_constants() {
    constexpr int64_t kMost = 1 << 16;  // elements
    for (const Captured& n : c_.nodes_) {
      if (n->kind != LazyNode::kCall || n->state != LazyNode::kRecorded)
        continue;
      for (Operand& o : n->operands) {
        const Made& m = o.node->made[o.result];
        if (!is_constant(*o.node) || m.layout.numel > kMost) continue;
        Captured& data = stored_[o.node.get()];
        if (data == nullptr) data = stored(*o.node);
        --o.node->made[o.result].uses;
        ++data->made[0].uses;
        o.node = data;
      }
    }
  }

  Captured stored(const LazyNode& constant) const {
    const ValueLayout& l = constant.made[0].layout;
    Captured data = data_node(ValueLayout(l));
    data->made[0].memory = StorageImpl::allocate(l.bytes(), c_.device());
    tensor_in(data->made[0].memory, l).fill_(constant.args[0].to_scalar());
    return data;
  }

  // Calls whose results nobody needs do not keep what they read.
  void forget_unneeded(std::vector<Captured> roots,
                       const std::vector<Captured>& more) {
    roots.insert(roots.end(), more.begin(), more.end());
    const std::set<const LazyNode*> needed = reached(roots);
    for (const Captured& n : c_.nodes_) {
      if (n->state == LazyNode::kRecorded && !needed.contains(n.get())) {
        n->drop_operands();
      }
    }
  }

  // Calls that run in their order, needed or not. The calls that read the
  // gradient of a result are the backward graph's, and have an order of their
  // own.
  void add_ordered(std::vector<Captured>* roots,
                   std::vector<Captured>* backward_roots) {
    std::set<const LazyNode*> later;
    for (const Capture::Entry& e : c_.entries_) {
      if (e.seed) later.insert(e.data.get());
    }
    if (!later.empty() && !c_.ordered_.empty()) {
      for (const Captured& n : c_.nodes_) {
        const auto reads = [&](const Operand& o) {
          return later.contains(o.node.get());
        };
        if (std::any_of(n->operands.begin(), n->operands.end(), reads)) {
          later.insert(n.get());
        }
      }
    }
    const LazyNode* before = nullptr;
    for (const Captured& n : c_.ordered_) {
      const bool is_later = later.contains(n.get());
      if (is_later && before != nullptr && !later.contains(before)) {
        forget_last_operand(*n);
      }
      add_root(n, is_later ? backward_roots : roots);
      before = n.get();
    }
  }

  static void forget_last_operand(LazyNode& n) {
    const Operand& last = n.operands[n.operands.size() - 1];
    --last.node->made[last.result].uses;
    n.operands.resize(n.operands.size() - 1);
  }

  static void add_root(const Captured& n, std::vector<Captured>* roots) {
    if (n->state == LazyNode::kRecorded) roots->push_back(n);
  }
  static std::vector<Captured> roots_of(const std::vector<ValueOf>& values) {
    std::vector<Captured> roots;
    for (const ValueOf& v : values) add_root(v.node, &roots);
    return roots;
  }

  // One value for each storage, whether others have the same elements or not.
  int value_of(const StorageImpl* s, const LazyValue& v,
               std::vector<ValueOf>* values) {
    const auto [at, fresh] =
        storages_.emplace(s, static_cast<int>(values->size()));
    if (fresh) values->push_back({v.node, v.result});
    return at->second;
  }

  capture::Result result_of(const Tensor& t, std::vector<ValueOf>* values) {
    capture::Result r;
    if (!t.defined()) return r;
    r.dtype = t.scalar_type();
    r.sizes.assign(t.sizes().begin(), t.sizes().end());
    r.strides.assign(t.strides().begin(), t.strides().end());
    r.offset = t.storage_offset();
    StorageImpl& s = *t.storage();
    if (s.data_acquire() == nullptr ||
        (t.numel() == 0 && c_.find(t) == nullptr)) {
      const Capture::ValuePart part = c_.value_of(t);
      r.value = value_of(&s, *part.value, values);
      r.offset -= part.offset;
      return r;
    }
    Capture::Entry& e = c_.entry_of(t);
    r.offset -= e.offset;
    if (e.fresh) {
      r.value = value_of(&s, *e.value, values);
    } else {
      r.input = input_of(e);
    }
    return r;
  }

  int input_of(Capture::Entry& e) {
    const auto [at, fresh] =
        places_.emplace(&e, static_cast<int>(entries_.size()));
    if (!fresh) return at->second;
    inputs_by_data_.emplace(e.data.get(), entries_.size());
    entries_.push_back(&e);
    // A graph keeps no arguments alive.
    inputs_.push_back(
        {without_memory(e.tensor), e.source, -1, e.whole, e.written});
    seen_.emplace_back(e.tensor);
    return static_cast<int>(entries_.size()) - 1;
  }

  // Storages that live on and are no results get their elements in this run.
  void find_escaped(TensorList results, TensorList gradients) {
    const auto is_result = [&](const StorageImpl* s) {
      const auto has = [&](const Tensor& t) {
        return t.defined() && t.storage().get() == s;
      };
      return std::any_of(results.begin(), results.end(), has) ||
             std::any_of(gradients.begin(), gradients.end(), has);
    };
    const auto add = [&](const Storage& s, const LazyValue& v) {
      if (is_result(s.get())) return;
      escaped_.push_back(s);
      values_.push_back({v.node, v.result});
      escaped_text_ = v.node->name();
    };
    for (const auto& weak : c_.made_) {
      const Storage s = weak.lock();
      if (s == nullptr || s->data_acquire() != nullptr) continue;
      if (LazyValue* const v = LazyValue::of(*s)) add(s, *v);
    }
    for (const Capture::Entry& e : c_.entries_) {
      if (e.fresh && e.written) {
        add(Storage::retain(e.storage), *e.value);
      }
    }
  }

  // Data that is no input stays for all runs. Other pieces may write it.
  void keep_constants(const RecordedGraph& g) {
    std::set<const LazyNode*> inputs;
    for (const Capture::Entry* e : entries_) inputs.insert(e->data.get());
    for (const Captured& d : g.data) {
      if (inputs.contains(d.get())) continue;
      for (Made& m : d->made) {
        ++m.holders;
        if (!c_.breaks_.empty() && m.memory != nullptr) m.memory = copy_of(m);
      }
    }
  }

  Storage copy_of(const Made& m) const {
    Storage to = StorageImpl::allocate(m.layout.bytes(), c_.device());
    copy_memory(c_.device(), to->data(), m.memory->data(), m.layout.bytes());
    return to;
  }

  // ---- the backward graph

  // The calls that only gradients need. Data replaces the values of the forward
  // graph that they read: saved_.
  RecordedGraph split(const std::vector<Captured>& forward,
                      const std::vector<Captured>& backward) {
    std::vector<Captured> all = forward;
    all.insert(all.end(), backward.begin(), backward.end());
    const RecordedGraph joint = collect(all);
    const std::set<const LazyNode*> in_first = reached(forward);
    RecordedGraph rest;
    for (const Captured& n : joint.nodes) {
      if (!in_first.contains(n.get())) rest.nodes.push_back(n);
    }
    for (const Captured& n : rest.nodes) {
      for (Operand& o : n->operands) {
        Captured data = in_first.contains(o.node.get())
                            ? saved({o.node, o.result})
                            : data_of_input({o.node, o.result});
        if (data == nullptr) continue;
        --o.node->made[o.result].uses;
        ++data->made[0].uses;
        o.node = std::move(data);
        o.result = 0;
      }
    }
    return rest;
  }

  // The recorded nodes that these need, and they themselves.
  static std::set<const LazyNode*> reached(const std::vector<Captured>& roots) {
    std::set<const LazyNode*> seen;
    std::vector<const LazyNode*> stack;
    const auto visit = [&](const Captured& n) {
      if (n->state == LazyNode::kRecorded && seen.insert(n.get()).second) {
        stack.push_back(n.get());
      }
    };
    for (const Captured& n : roots) visit(n);
    while (!stack.empty()) {
      const LazyNode* const n = stack.back();
      stack.pop_back();
      for (const Operand& o : n->operands) visit(o.node);
    }
    return seen;
  }

  // An input as data of the backward graph; what it held before, if it is
  // written. nullptr for other nodes.
  Captured data_of_input(const ValueOf& v) {
    const auto at = inputs_by_data_.find(v.node.get());
    if (at == inputs_by_data_.end()) return nullptr;
    if (entries_[at->second]->written) return saved(v);
    Captured& data = again_[at->second];
    if (data == nullptr) data = data_like(v);
    return data;
  }

  Captured saved(const ValueOf& v) {
    const auto [at, fresh] = places_of_saved_.emplace(
        std::pair(v.node.get(), v.result), saved_.size());
    if (!fresh) return saved_[at->second].second;
    ++v.node->made[v.result].holders;  // the forward graph must leave it
    return saved_.emplace_back(v, data_like(v)).second;
  }

  static Captured data_like(const ValueOf& v) {
    Captured data = data_node(ValueLayout(v.node->made[v.result].layout));
    ++data->made[0].holders;  // its memory is not the graph's
    return data;
  }

  std::unique_ptr<capture::Graph> backward_graph(
      RecordedGraph graph, std::vector<capture::Result> results,
      std::vector<ValueOf> values, std::vector<ValueOf>* forward_values) {
    CapturedGraph::Parts parts;
    std::set<const LazyNode*> ours;
    for (const Captured& n : graph.nodes) ours.insert(n.get());
    for (ValueOf& v : values) {
      if (ours.contains(v.node.get())) continue;
      Captured data =
          v.node->state == LazyNode::kRecorded ? saved(v) : data_of_input(v);
      if (data != nullptr) v = {std::move(data), 0};
    }
    for (const auto& [value, data] : saved_) {
      auto at =
          std::find(forward_values->begin(), forward_values->end(), value);
      capture::Input in;
      in.saved = static_cast<int>(at - forward_values->begin());
      if (at == forward_values->end()) forward_values->push_back(value);
      parts.inputs.push_back(std::move(in));
      parts.data.push_back(data);
    }
    const size_t first = parts.inputs.size();
    for (size_t i = 0; i < entries_.size(); ++i) {
      parts.inputs.push_back(inputs_[i]);
      parts.inputs.back().written = false;
      const auto data = again_.find(i);
      parts.data.push_back(data == again_.end() ? nullptr : data->second);
    }
    for (capture::Result& r : results) {
      if (r.input >= 0) r.input += static_cast<int>(first);
    }
    renumber(&graph);
    graph.device = c_.device();
    graph.engine = &c_.engine();
    keep_constants(graph);
    parts.after.resize(parts.data.size());
    parts.results = std::move(results);
    parts.values = std::move(values);
    parts.graph = std::move(graph);
    for (const ValueOf& v : parts.values) ++v.node->made[v.result].holders;
    return std::make_unique<CapturedGraph>(std::move(parts));
  }

  // Places of nodes, and the data that they read.
  static void renumber(RecordedGraph* g) {
    std::set<const LazyNode*> seen;
    for (size_t i = 0; i < g->nodes.size(); ++i) {
      g->nodes[i]->index = static_cast<int>(i);
      for (const Operand& o : g->nodes[i]->operands) {
        if (o.node->kind != LazyNode::kData) continue;
        if (!seen.insert(o.node.get()).second) continue;
        o.node->index = -1 - static_cast<int>(g->data.size());
        g->data.push_back(o.node);
      }
    }
  }

  // ---- the first run

  void run(capture::Graph& graph, size_t wanted) {
    std::vector<capture::Memory> memory;
    for (size_t i = 0; i < seen_.size(); ++i) {
      memory.push_back(capture::memory_of(seen_[i], graph.inputs()[i].whole));
    }
    std::vector<Storage> all(static_cast<size_t>(graph.num_values()));
    try {
      graph.run({memory.data(), memory.size()}, all.data());
    } catch (...) {
      c_.give_memory();  // no elements: nobody waits for a graph that failed
      throw;
    }
    for (size_t k = 0; k < escaped_.size(); ++k) {
      deliver(*escaped_[k], all[wanted + k]);
    }
    *run_values_ = std::move(all);
  }

  void deliver(StorageImpl& s, Storage value) {
    if (s.data_acquire() != nullptr) {
      copy_memory(c_.device(), s.data(), value->data(),
                  std::min(s.nbytes(), value->nbytes()));
    } else {
      if (s.nbytes() == 0) value = StorageImpl::allocate(1, c_.device());
      s.take_memory(std::move(value));
      s.set_payload({});
    }
  }

  Capture& c_;
  std::vector<Storage>* const run_values_;
  std::vector<capture::Result> results_;
  std::vector<ValueOf> values_;
  std::map<const StorageImpl*, int> storages_;
  std::vector<Capture::Entry*> entries_;  // inputs
  std::unordered_map<const Capture::Entry*, int> places_;
  std::unordered_map<const LazyNode*, size_t> inputs_by_data_;
  std::vector<capture::Input> inputs_;
  std::vector<Tensor> seen_;
  std::vector<Storage> escaped_;
  std::map<const LazyNode*, Captured> stored_;
  std::string escaped_text_;
  // The data of the backward graph.
  std::vector<std::pair<ValueOf, Captured>> saved_;
  std::map<std::pair<const LazyNode*, uint16_t>, size_t> places_of_saved_;
  std::map<size_t, Captured> again_;  // by input
};

capture::Graphs Capture::finish(TensorList results, TensorList gradients,
                                std::vector<Storage>* values) {
  const PlainModes modes;
  return Finish(*this, values).make(results, gradients);
}

capture::Graphs Capture::finish_piece(std::vector<Storage>* living) {
  const PlainModes modes;
  std::vector<Storage> values;
  Finish finish(*this, &values);
  capture::Graphs graphs = finish.make({}, {});
  *living = finish.living();
  return graphs;
}

namespace {

class CaptureEngine final : public capture::Engine {
 public:
  std::unique_ptr<capture::Recorder> record(Device device,
                                            capture::GradListener* listener,
                                            std::string_view backend) override {
    if (device.is_lazy() || device.is_meta() || Capture::current() != nullptr) {
      return nullptr;
    }
    return std::make_unique<Capture>(device, engine_of(backend), listener);
  }
};

CaptureEngine& the_engine() {
  static auto* e = new CaptureEngine;  // leaked: graphs may outlive the library
  return *e;
}

SY_BACKEND(Lazy, m) { m.service(BackendService::kCapture, &the_engine()); }

}  // namespace

}  // namespace sy::lazy
