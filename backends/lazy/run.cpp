#include "backends/lazy/run.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "aten/backend/pending.h"
#include "aten/engine/copy.h"
#include "backends/lazy/plan.h"
#include "c10/dispatch/thread_state.h"
#include "c10/dispatch/trace.h"
#include "c10/process/error.h"

namespace sy::lazy {

using Clock = std::chrono::steady_clock;

namespace {

// The number of first runs of a plan whose time is taken. One run of as many is
// timed later.
constexpr int64_t kTimedRuns = 16;

}  // namespace

void call_inner(const OperatorEntry& op, std::vector<Value>& args,
                std::vector<Value>* results) {
  const PlainModes modes;
  results->assign(static_cast<size_t>(op.num_results()), Value());
  OperatorHandle(&op).call_boxed(args.data(), args.size(), results->data(),
                                 results->size());
}

Run::Run(RecordedGraph graph, Plan& plan)
    : graph_(std::move(graph)), plan_(plan), costs_(plan.steps.size()) {
  timed_ = is_timed();
  for (const auto& n : graph_.nodes) {
    n->state = LazyNode::kRunning;
    n->release_uses();
  }
}

bool Run::is_timed() {
  const int64_t n = plan_.started++;
  return n < kTimedRuns || n % kTimedRuns == 0;
}

const Made& Run::made(ValueRef v) const {
  const auto& n = v.node < 0 ? graph_.data[size_t(-1 - v.node)]
                             : graph_.nodes[size_t(v.node)];
  return n->made[size_t(v.result)];
}
Made& Run::made(ValueRef v) {
  return const_cast<Made&>(std::as_const(*this).made(v));
}

void Run::run() {
  const PlainModes modes;
  thread_state.interpreted = plan_.engine->kind == GraphEngine::kInterpreted;
  const TraceSpan span("lazy graph", [&] {
    return str("{} calls, {} steps", graph_.nodes.size(), plan_.steps.size());
  });
  try {
    run_steps();
    for (const Tensor& t : late_) wait_pending(t, "lazy graph");
    late_.clear();
  } catch (...) {
    for (const Tensor& t : late_) {
      try {
        wait_pending(t);
      } catch (const Error&) {
        // The first error is thrown.
      }
    }
    late_.clear();
    throw;
  }
}

void Run::run_steps() {
  Clock::time_point begin = timed_ ? Clock::now() : Clock::time_point();
  for (const Step& step : plan_.steps) {
    bytes_ = 0;
    try {
      const TraceSpan inner("lazy step", [&] { return step.text; });
      if (!late_.empty()) wait_for_operands(step);
      run_step(step);
    } catch (Error& e) {
      name_calls(step, &e);
      throw;
    }
    if (timed_) {
      const Clock::time_point end = Clock::now();
      costs_[done_] = {1, std::chrono::nanoseconds(end - begin).count(),
                       bytes_};
      begin = end;
    }
    ++done_;
    for (const ValueRef v : step.last_uses) made(v).memory.reset();
  }
}

// Memory that a step reads must have come.
void Run::wait_for_operands(const Step& step) {
  for (const int i : step.nodes) {
    const LazyNode& n = *graph_.nodes[size_t(i)];
    const size_t taken =
        n.kind == LazyNode::kCall ? num_taken(n) : n.operands.size();
    for (size_t k = 0; k < taken && !late_.empty(); ++k) {
      const Operand& o = n.operands[k];
      const Storage& memory = o.node->made[o.result].memory;
      const auto at = std::find_if(
          late_.begin(), late_.end(),
          [&](const Tensor& t) { return t.storage().get() == memory.get(); });
      if (at == late_.end()) continue;
      wait_pending(*at, n.name());
      late_.erase(at);
    }
  }
}

// Elements that are read again along a dim count once.
void Run::count_bytes(const Made& m, const ValueLayout& part) {
  bytes_ += static_cast<int64_t>(std::min(m.layout.bytes(), part.bytes()));
}

// Says which call failed. Any call of a region that can fail may be the one.
void Run::name_calls(const Step& step, Error* e) const {
  if (step.whole) return;  // has its name
  const LazyNode& first = *graph_.nodes[size_t(step.nodes[0])];
  if (!step.region.defined() &&
      dynamic_cast<const OutOfMemoryError*>(e) == nullptr) {
    if (first.op != nullptr) first.op->name_in(*e);
    return;
  }
  std::string names;
  for (const int i : step.nodes) {
    const LazyNode& n = *graph_.nodes[size_t(i)];
    // Only integers fail for their values: where they are divided.
    const bool may = dynamic_cast<const OutOfMemoryError*>(e) != nullptr ||
                     is_integral_type(n.compute, true);
    if (may) names += (names.empty() ? "" : ", ") + std::string(n.name());
  }
  e->add_prefix(str("[{}] ", names.empty() ? first.name() : names));
}

void Run::finish() {
  // A node may be in several steps.
  std::vector<bool> again(graph_.nodes.size(), false);
  for (size_t s = done_; s < plan_.steps.size(); ++s) {
    for (const int i : plan_.steps[s].nodes) {
      if (again[size_t(i)]) continue;
      again[size_t(i)] = true;
      LazyNode& n = *graph_.nodes[size_t(i)];
      n.state = LazyNode::kRecorded;
      n.take_uses_back();
    }
  }
  for (size_t i = 0; i < again.size(); ++i) {
    if (again[i]) continue;
    LazyNode& n = *graph_.nodes[i];
    n.state = LazyNode::kDone;
    n.drop_operands();
    n.args.clear();
  }
  add_costs();
}

void Run::add_costs() {
  for (size_t s = 0; s < done_; ++s) {
    plan_.costs[s].runs += costs_[s].runs;
    plan_.costs[s].ns += costs_[s].ns;
    plan_.costs[s].bytes += costs_[s].bytes;
    plan_.all.ns += costs_[s].ns;
    plan_.all.bytes += costs_[s].bytes;
  }
  plan_.all.runs += timed_;
  Counters& c = counters();
  c.regions += counts_.regions;
  c.in_regions += counts_.in_regions;
  c.kernels += counts_.kernels;
  c.donated += counts_.donated;
}

void Run::rewind() {
  for (const auto& n : graph_.nodes) {
    for (Made& m : n->made) m.memory.reset();
  }
  if (timed_) {
    const std::lock_guard lock(graph_mutex());
    add_costs();
    counts_ = {};
    costs_.assign(costs_.size(), {});
  }
  done_ = 0;
  timed_ = is_timed();
}

void Run::run_step(const Step& step) {
  if (step.region.defined()) return run_region(step);
  if (step.whole && run_whole(step)) return;
  for (const int i : step.nodes) run_single(*graph_.nodes[size_t(i)]);
}

// The memory that a step of one node reads, and where its results go.
class Run::StepMemory final : public NodeMemory {
 public:
  StepMemory(Run& run, LazyNode& node) : run_(run), node_(node) {}
  Device device() const override { return run_.graph_.device; }
  Tensor operand(size_t k) override { return node_.operands[k].tensor(); }
  Storage taken(size_t k) override { return run_.taken_or_copied(node_, k); }
  void set(size_t result, Storage memory) override {
    node_.made[result].memory = std::move(memory);
  }
  bool set_late(size_t result, const Tensor& computed) override {
    if (!run_.may_be_late_) return false;
    node_.made[result].memory = computed.storage();
    run_.late_.push_back(computed);
    return true;
  }

 private:
  Run& run_;
  LazyNode& node_;
};

void Run::run_single(LazyNode& node) {
  if (node.kind != LazyNode::kEmpty) {
    ++counts_.kernels;
    for (const Operand& o : node.operands) {
      count_bytes(o.node->made[o.result], o.layout());
    }
    for (const Made& m : node.made) count_bytes(m, m.layout);
  }
  StepMemory memory(*this, node);
  run_node(node, memory, &scratch_);
}

// False if the compiler does not take the graph.
bool Run::run_whole(const Step& step) {
  if (view_ == nullptr) {
    view_ = std::make_unique<GraphView>(graph_, step.results);
    executable_ = plan_.executables->find(*view_, *plan_.engine);
  }
  if (executable_ == nullptr) return false;
  std::vector<Storage> inputs, outputs(step.results.size());
  for (int i = 0; i < view_->num_inputs(); ++i) {
    const Made& m = made(view_->input(i));
    inputs.push_back(m.memory);
    count_bytes(m, m.layout);
  }
  executable_->run(*view_, {inputs.data(), inputs.size()}, outputs.data());
  for (size_t k = 0; k < outputs.size(); ++k) {
    Made& m = made(step.results[k].value);
    m.memory = std::move(outputs[k]);
    count_bytes(m, m.layout);
  }
  ++counts_.regions;
  counts_.in_regions += static_cast<int64_t>(step.nodes.size());
  return true;
}

// Whether nobody reads the operand's value after this node.
bool Run::dies(const LazyNode& node, size_t operand) {
  const Operand& o = node.operands[operand];
  const Made& m = o.node->made[o.result];
  if (plan_.steps[done_].whole) return false;
  for (size_t k = 0; k < node.operands.size(); ++k) {
    const Operand& other = node.operands[k];
    if (k != operand && other.node == o.node && other.result == o.result) {
      return false;
    }
  }
  for (const ValueRef v : plan_.steps[done_].last_uses) {
    if (&made(v) == &m) return m.memory->use_count() == 1;
  }
  return false;
}

// Memory with the elements of an operand, to be written.
Storage Run::taken_or_copied(LazyNode& node, size_t operand) {
  const Operand& o = node.operands[operand];
  Made& from = o.node->made[o.result];
  if (dies(node, operand)) {
    counts_.donated += static_cast<int64_t>(from.layout.bytes());
    return from.memory;
  }
  Storage to = StorageImpl::allocate(from.layout.bytes(), graph_.device);
  copy_tensor(tensor_in(to, from.layout), tensor_in(from.memory, from.layout));
  return to;
}

void Run::run_region(const Step& step) {
  const Region& region = step.region.region();
  const size_t dims = region.sizes.size();
  int64_t sizes[16];
  for (size_t d = 0; d < dims; ++d) sizes[d] = 1;
  if (step.one_row) {
    sizes[0] = made(step.results[0].value).layout.numel;
  } else {
    for (size_t d = 0; d < step.sizes.size(); ++d) {
      const Step::Size& s = step.sizes[d];
      sizes[d] =
          walked_layout(*graph_.nodes[size_t(s.node)]).sizes()[size_t(s.dim)];
    }
  }
  const size_t operands = step.inputs.size() + step.results.size();
  std::vector<int64_t>& strides = strides_;
  std::vector<RegionMemory>& memory = memory_;
  strides.assign(operands * dims, 0);
  memory.clear();
  int64_t* at = strides.data();
  const auto place = [&](const ValueLayout& l, const std::vector<int8_t>& of,
                         const Storage& s) {
    for (size_t d = 0; d < of.size() && !step.one_row; ++d) {
      if (of[d] >= 0) at[of[d]] += l.strides()[d];
    }
    memory.push_back(
        {static_cast<char*>(s->data()) +
             l.offset * static_cast<int64_t>(element_size(l.dtype)),
         step.one_row ? nullptr : at, l.dtype, s.get()});
    at += dims;
  };
  for (const RegionInput& in : step.inputs) {
    const Operand& o =
        graph_.nodes[size_t(in.reader)]->operands[size_t(in.operand)];
    count_bytes(o.node->made[o.result], o.layout());
    place(o.layout(), in.dims, o.node->made[o.result].memory);
  }
  for (const RegionResult& r : step.results) {
    Made& m = made(r.value);
    count_bytes(m, m.layout);
    Storage* donor = nullptr;
    if (r.donor >= 0) {
      const RegionInput& in = step.inputs[size_t(r.donor)];
      donor = &made(in.value).memory;
    }
    if (donor != nullptr && (*donor)->use_count() == 1) {
      counts_.donated += static_cast<int64_t>(m.layout.bytes());
      m.memory = *donor;
    } else {
      m.memory = StorageImpl::allocate(m.layout.bytes(), graph_.device);
    }
    place(m.layout, r.dims, m.memory);
  }
  std::vector<program::Uniform>& uniforms = uniforms_;
  uniforms.clear();
  for (const int i : step.nodes) {
    const auto& own = graph_.nodes[size_t(i)]->uniforms;
    uniforms.insert(uniforms.end(), own.begin(), own.end());
  }
  RegionCall call;
  call.sizes = {sizes, dims};
  call.inputs = {memory.data(), step.inputs.size()};
  call.outputs = {memory.data() + step.inputs.size(), step.results.size()};
  call.uniforms = uniforms.data();
  call.n_uniforms = static_cast<int32_t>(uniforms.size());
  call.device = std::max<int32_t>(graph_.device.index(), 0);
  step.region.run(call);
  ++counts_.regions;
  counts_.in_regions += static_cast<int64_t>(step.nodes.size());
}

}  // namespace sy::lazy
