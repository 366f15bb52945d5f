#include "backends/lazy/captured_graph.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "backends/lazy/cache.h"
#include "backends/lazy/look.h"
#include "c10/device/backend.h"
#include "c10/dispatch/thread_state.h"
#include "c10/process/error.h"

namespace sy::lazy {

void copy_memory(Device device, void* to, const void* from, size_t n) {
  if (n == 0 || to == from) return;
  if (device.is_cpu()) {
    std::memcpy(to, from, n);
  } else {
    device_interface(device.type())
        .copy_on_device(to, from, n, std::max<int>(device.index(), 0));
  }
}

namespace {

std::string words_of(const ValueLayout& l) {
  std::string text = str("{}{}", l.dtype, l.sizes());
  for (const int64_t s : l.strides()) text += str(" {}", s);
  return text + str(" @{}", l.offset);
}

// Numbers are told by their bits.
std::string words_of(const program::Uniform& u) {
  unsigned char bytes[sizeof u];
  std::memcpy(bytes, &u, sizeof u);
  std::string text;
  for (const unsigned char b : bytes) {
    char hex[3];
    std::snprintf(hex, sizeof hex, "%02x", b);
    text += hex;
  }
  return text;
}

size_t bytes_of(const ValueOf& v) {
  return v.node->made[v.result].layout.bytes();
}

}  // namespace

CapturedGraph::CapturedGraph(Parts parts)
    : device_(parts.graph.device),
      plan_(find_plan(parts.graph)),
      run_(std::move(parts.graph), *plan_),
      data_(std::move(parts.data)),
      after_(std::move(parts.after)),
      values_(std::move(parts.values)) {
  run_.let_results_be_late();
  inputs_ = std::move(parts.inputs);
  results_ = std::move(parts.results);
  num_values_ = static_cast<int>(values_.size());
  draws_ = parts.draws;
  std::unordered_map<const LazyNode*, int> place;
  for (size_t i = 0; i < data_.size(); ++i) {
    if (data_[i] != nullptr) place[data_[i].get()] = static_cast<int>(i);
  }
  const auto input_of = [&](const ValueOf& v) {
    const auto at = place.find(v.node.get());
    return at == place.end() ? -1 : at->second;
  };
  for (const ValueOf& v : values_) value_input_.push_back(input_of(v));
  for (const ValueOf& v : after_) {
    after_input_.push_back(input_of(v));
    if (v.node != nullptr) written_.insert({v.node.get(), v.result});
  }
}

// A chain of nodes is as long as the program; it is not taken down by
// recursion.
CapturedGraph::~CapturedGraph() {
  for (const Captured& n : run_.graph().nodes) n->drop_operands();
}

// Ends a run: lets go of its inputs and its results.
struct CapturedGraph::Clean {
  CapturedGraph* graph;
  ~Clean() {
    graph->run_.rewind();
    for (const Captured& d : graph->data_) {
      if (d != nullptr) d->made[0].memory.reset();
    }
  }
};

void CapturedGraph::run(ArrayRef<capture::Memory> inputs, Storage* values) {
  const std::lock_guard lock(mutex_);
  const PlainModes modes;
  const Clean clean{this};
  SY_INTERNAL_ASSERT(inputs.size() == data_.size());
  for (size_t i = 0; i < data_.size(); ++i) {
    if (data_[i] != nullptr) bind(i, inputs[i]);
  }
  std::vector<Write> old = save_old(values);
  run_.run();
  for (size_t v = 0; v < values_.size(); ++v) {
    if (values[v] == nullptr) values[v] = taken(values_[v]);
  }
  write_back(inputs, std::move(old));
}

// Old elements of inputs that are written, where they live on: as values, and
// as what other inputs will be.
std::vector<CapturedGraph::Write> CapturedGraph::save_old(
    Storage* values) const {
  for (size_t v = 0; v < values_.size(); ++v) {
    const int i = value_input_[v];
    if (i >= 0 && inputs_[size_t(i)].written) values[v] = copied(values_[v]);
  }
  std::vector<Write> writes;
  for (size_t i = 0; i < after_.size(); ++i) {
    const int from = after_[i].node == nullptr ? -1 : after_input_[i];
    if (from >= 0 && inputs_[size_t(from)].written) {
      writes.push_back({i, copied(after_[i]), bytes_of(after_[i])});
    }
  }
  return writes;
}

// Memory that is written belongs to nobody else, so results may be put there.
void CapturedGraph::bind(size_t i, const capture::Memory& m) {
  Made& made = data_[i]->made[0];
  const bool as_it_is = !inputs_[i].written && m.data == m.storage->data();
  made.memory = as_it_is ? m.storage
                         : StorageImpl::adopt(m.data, made.layout.bytes(),
                                              device_, nullptr, nullptr);
}

Storage CapturedGraph::copied(const ValueOf& v) const {
  const Made& m = v.node->made[v.result];
  Storage to = StorageImpl::allocate(m.layout.bytes(), device_);
  copy_memory(device_, to->data(), m.memory->data(), m.layout.bytes());
  return to;
}

// The new elements of inputs that are written. Elements that lie in the memory
// of another input are copied first.
void CapturedGraph::write_back(ArrayRef<capture::Memory> inputs,
                               std::vector<Write> writes) {
  std::unordered_set<const void*> addresses;
  for (size_t i = 0; i < after_.size(); ++i) {
    if (after_[i].node == nullptr) continue;
    const int from = after_input_[i];
    if (from >= 0 && inputs_[size_t(from)].written) continue;  // is there
    const Made& m = after_[i].node->made[after_[i].result];
    if (m.memory->data() == inputs[i].data) continue;
    if (addresses.empty()) {
      for (const capture::Memory& in : inputs) addresses.insert(in.data);
    }
    const bool moves = addresses.contains(m.memory->data());
    writes.push_back(
        {i, moves ? copied(after_[i]) : m.memory, m.layout.bytes()});
  }
  for (const Write& w : writes) {
    copy_memory(device_, inputs[w.input].data, w.from->data(), w.bytes);
  }
}

// Fresh memory for a value: what the run has made, if nobody else has it.
Storage CapturedGraph::taken(const ValueOf& value) const {
  const Made& m = value.node->made[value.result];
  const bool made_here = value.node->kind != LazyNode::kData &&
                         m.memory->use_count() == 1 && m.memory->resizable() &&
                         m.memory->nbytes() == m.layout.bytes();
  const bool written = written_.contains({value.node.get(), value.result});
  return made_here && !written ? m.memory : copied(value);
}

// Data that is no input: what it has is a part of the graph.
bool CapturedGraph::is_constant_data(const LazyNode& n) const {
  const auto is_it = [&](const Captured& d) { return d.get() == &n; };
  return device_.is_cpu() && n.made[0].memory != nullptr &&
         std::none_of(data_.begin(), data_.end(), is_it);
}

uint64_t CapturedGraph::hash_of(const LazyNode& n) {
  uint64_t hash = 14695981039346656037u;
  const Made& m = n.made[0];
  const auto* const bytes = static_cast<const unsigned char*>(m.memory->data());
  const size_t size = std::min(m.layout.bytes(), m.memory->nbytes());
  for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}

std::string CapturedGraph::listing() const {
  const RecordedGraph& g = run_.graph();
  std::string text;
  std::map<const LazyNode*, std::string> names;
  for (size_t i = 0; i < g.data.size(); ++i) {
    names[g.data[i].get()] = str("data{}", i);
    if (is_constant_data(*g.data[i])) {
      names[g.data[i].get()] += str("#{}", hash_of(*g.data[i]));
    }
  }
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    const LazyNode& n = *g.nodes[i];
    names[&n] = str("%{}", i);
    text += str("%{} = {}(", i, n.name());
    for (const Operand& o : n.operands) {
      text += str(" {}.{}", names[o.node.get()], o.result);
      // Memory has the layout of the tensor that was seen first.
      const bool is_data = o.node->index < 0;
      if (o.part || is_data) text += " as " + words_of(o.layout());
    }
    for (const program::Uniform& u : n.uniforms) text += " " + words_of(u);
    if (n.kind == LazyNode::kCall) {
      for (const Value& v : n.args) {
        if (!v.is_none()) text += " " + to_string(v);
      }
    }
    if (n.kind == LazyNode::kReduce) text += str(" over {}", n.reduced);
    if (n.window) text += " at " + words_of(*n.window);
    text += ") ->";
    for (const Made& m : n.made) text += " " + words_of(m.layout);
    text += "\n";
  }
  return text;
}

std::string CapturedGraph::structure() const {
  const RecordedGraph& g = run_.graph();
  std::string text;
  for (const Captured& d : g.data) {
    text += str("{} {}\n", d->made[0].layout.dtype, d->made[0].layout.dim());
  }
  for (const Captured& n : g.nodes) {
    text += str("{} {} {} {}:", n->name(), int{n->kind}, n->reduced,
                n->uniforms.size());
    for (const Operand& o : n->operands) {
      text += str(" {}.{}", o.node->index, o.result);
      if (o.part) text += str(" as {} {}", o.part->dtype, o.part->dim());
    }
    for (const Made& m : n->made) {
      text += str(" -> {} {}", m.layout.dtype, m.layout.dim());
    }
    text += "\n";
  }
  return text;
}

std::string CapturedGraph::plan() const {
  const std::lock_guard lock(graph_mutex());
  return plan_->text();
}

int64_t CapturedGraph::num_calls() const {
  return static_cast<int64_t>(run_.graph().nodes.size());
}

int64_t CapturedGraph::num_steps() const {
  return static_cast<int64_t>(plan_->steps.size());
}

}  // namespace sy::lazy
