#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "aten/backend/region.h"
#include "aten/engine/iter.h"
#include "backends/cuda/compile/jit.h"
#include "backends/cuda/device/region_params.cuh"
#include "backends/cuda/engine/numbers.h"
#include "backends/cuda/engine/reduce_launch.h"
#include "backends/cuda/engine/region_plan.h"
#include "backends/cuda/runtime/context.h"
#include "backends/cuda/runtime/launch.h"
#include "backends/cuda/runtime/stream.h"
#include "c10/plugin/library.h"

namespace sy::cuda {

namespace {

using print::ReduceShell;

// Of a kernel.
constexpr int kMostOperands = 16;

// Where a value or an output lies in a run. Strides are in bytes, one for each
// dim of the region.
struct Place {
  char* data = nullptr;
  int64_t strides[TensorImpl::kMaxDims] = {};
};

// The argument of a kernel, part by part: its size depends on how many operands
// and numbers there are.
class Argument {
 public:
  template <class T>
  void add(const T& part) {
    static_assert(sizeof(T) % 8 == 0);
    put(&part, sizeof(T));
  }
  void add(char* const* data, int n) {
    put(data, static_cast<size_t>(n) * sizeof(char*));
  }
  // A walk of the first n operands.
  void add(const Walk<kMostOperands>& w, int n) {
    put(&w,
        sizeof(Walk<1>) + (static_cast<size_t>(n) - 1) * sizeof(w.strides[0]));
  }
  void add(const std::vector<Number>& numbers) {
    const size_t n = std::max<size_t>(numbers.size(), 1);
    if (!numbers.empty()) put(numbers.data(), numbers.size() * sizeof(Number));
    used_ += (n - numbers.size()) * sizeof(Number);
  }
  void* data() { return bytes_; }
  size_t size() const { return used_; }

 private:
  void put(const void* from, size_t n) {
    SY_INTERNAL_ASSERT(used_ + n <= sizeof(bytes_));
    std::memcpy(bytes_ + used_, from, n);
    used_ += n;
  }
  alignas(16) char bytes_[4096] = {};
  size_t used_ = 0;
};

class Source final : public ProgramSource {
 public:
  Source(const RegionStep& step, ReduceShell shell)
      : step_(step), shell_(shell) {}
  std::string text(const std::string& name) const override {
    return step_.text.reduction < 0
               ? print::print_region_walk(name, step_.text)
               : print::print_region_reduce(name, step_.text, shell_);
  }

 private:
  const RegionStep& step_;
  ReduceShell shell_;
};

// A step with the keys of its kernels.
class PreparedStep {
 public:
  explicit PreparedStep(const RegionStep& step) : step_(step) {
    for (int i = 0; i < shells(); ++i) {
      const Source source(step, static_cast<ReduceShell>(i));
      const Hash h = hash_of(source.text("k"));
      keys_[i] = {{h.a, h.b}};
    }
  }
  const RegionStep& step() const { return step_; }
  bool reduces() const { return step_.text.reduction >= 0; }
  int shells() const { return reduces() ? 3 : 1; }

  // nullptr if it is not compiled yet.
  const Function* find(int device, ReduceShell shell) const {
    return program(device, keys_[static_cast<int>(shell)],
                   Source(step_, shell));
  }
  const Function& get(int device, ReduceShell shell) const {
    const Function* f = find(device, shell);
    if (f == nullptr) {
      finish_compiling();
      f = find(device, shell);
    }
    SY_CHECK(f != nullptr, Error,
             "[region] a kernel of it cannot be compiled: see the warning");
    return *f;
  }

 private:
  const RegionStep& step_;
  ProgramKey keys_[3];
};

class StepKernels final : public ReduceKernels {
 public:
  StepKernels(int device, const PreparedStep& step)
      : device_(device), step_(step) {}
  const Function& of(ReduceShell shell) override {
    return step_.get(device_, shell);
  }

 private:
  int device_;
  const PreparedStep& step_;
};

class PreparedOnCuda final : public PreparedRegion {
 public:
  explicit PreparedOnCuda(const Region& r)
      : PreparedRegion(r), values_(region()) {
    RegionReason why;
    const bool planned = plan_region(region(), values_, &plan_, &why);
    SY_INTERNAL_ASSERT(planned, "{}", why.text);
    for (const RegionStep& s : plan_.steps) steps_.emplace_back(s);
  }

  const RegionValues& values() const { return values_; }
  const std::vector<PreparedStep>& steps() const { return steps_; }

  // Runs need the kernels: they are made here, side by side.
  void compile(int device) const {
    bool queued = false;
    for (const PreparedStep& s : steps_) {
      for (int i = 0; i < s.shells(); ++i) {
        queued |= s.find(device, static_cast<ReduceShell>(i)) == nullptr;
      }
    }
    if (queued) finish_compiling();
  }

 private:
  RegionValues values_;
  RegionPlan plan_;
  std::vector<PreparedStep> steps_;
};

class RegionRun {
 public:
  RegionRun(const PreparedOnCuda& prepared, const RegionCall& call)
      : prepared_(prepared),
        region_(prepared.region()),
        call_(call),
        device_(kCUDA, static_cast<int8_t>(call.device)),
        places_(static_cast<size_t>(prepared.values().size())),
        temporaries_(places_.size()) {
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      places_[i] = place(region_.inputs[i], call.inputs[i]);
    }
  }

  void run() {
    for (const PreparedStep& s : prepared_.steps()) {
      s.reduces() ? reduce(s) : walk(s);
    }
  }

 private:
  int64_t size(int d) const { return call_.sizes[static_cast<size_t>(d)]; }
  int dims() const { return static_cast<int>(call_.sizes.size()); }
  int64_t numel(uint64_t space) const {
    int64_t n = 1;
    for (int d = 0; d < dims(); ++d) {
      if ((space >> d & 1) != 0) n *= size(d);
    }
    return n;
  }

  Place place(const RegionOperand& said, const RegionMemory& m) const {
    Place p;
    p.data = static_cast<char*>(m.data);
    const auto item = static_cast<int64_t>(element_size(said.dtype));
    for (int d = 0; d < dims(); ++d) {
      const auto at = static_cast<size_t>(d);
      const int64_t stride = said.strides[at] == 0 || m.strides == nullptr
                                 ? said.strides[at]
                                 : m.strides[d];
      p.strides[d] = size(d) == 1 ? 0 : stride * item;
    }
    return p;
  }

  // Dims of `space` in the order in which the operands lie, those that come
  // first before others.
  void order(const std::vector<const Place*>& operands, uint64_t space,
             std::vector<int>* out) const {
    std::vector<int> all;
    for (int d = 0; d < dims(); ++d) {
      if ((space >> d & 1) != 0) all.push_back(d);
    }
    std::vector<std::vector<int64_t>> strides(operands.size());
    std::vector<const int64_t*> rows;
    std::vector<int64_t> sizes;
    for (const int d : all) sizes.push_back(size(d));
    for (size_t k = 0; k < operands.size(); ++k) {
      for (const int d : all) strides[k].push_back(operands[k]->strides[d]);
      rows.push_back(strides[k].data());
    }
    std::vector<uint8_t> by(all.size());
    sort_dims(rows.data(), static_cast<int>(rows.size()), sizes.data(),
              static_cast<int>(all.size()), by.data());
    for (const uint8_t i : by) out->push_back(all[i]);
  }

  Walk<kMostOperands> walk_of(const std::vector<const Place*>& operands,
                              const std::vector<int>& order,
                              uint64_t space) const {
    Walk<kMostOperands> w;
    for (const int d : order) {
      if ((space >> d & 1) == 0) continue;
      int64_t strides[kMostOperands] = {};
      for (size_t k = 0; k < operands.size(); ++k) {
        strides[k] = operands[k]->strides[d];
      }
      SY_CHECK(push_dim(&w, size(d), strides), Value,
               "[region] sizes: expected at most {} groups of dims, got {}",
               kWalkDims, call_.sizes);
    }
    close_walk(&w);
    return w;
  }

  std::vector<Number> numbers(const print::RegionText& t) const {
    std::vector<Number> out;
    for (const int i : print::region_numbers(t)) {
      out.push_back(number_of(call_.uniforms[i]));
    }
    return out;
  }

  void note_uses() const {
    StreamInterface& streams = stream_interface();
    const uint64_t stream = streams.current_stream(call_.device);
    const uint64_t ticket = streams.last_ticket(call_.device, stream);
    for (const ArrayRef<RegionMemory> list : {call_.inputs, call_.outputs}) {
      for (const RegionMemory& m : list) {
        if (m.storage == nullptr) continue;
        note_use(*m.storage, call_.device, stream, ticket);
      }
    }
  }

  void walk(const PreparedStep& s) {
    const print::RegionText& t = s.step().text;
    const int64_t n = numel(s.step().space);
    if (n == 0) return;
    std::vector<Place> outputs;
    for (const int o : t.outputs) {
      outputs.push_back(place(region_.outputs[static_cast<size_t>(o)].memory,
                              call_.outputs[static_cast<size_t>(o)]));
    }
    std::vector<const Place*> operands, written;
    std::vector<char*> data;
    for (const int v : t.inputs) {
      operands.push_back(&places_[static_cast<size_t>(v)]);
    }
    for (const Place& p : outputs) {
      operands.push_back(&p);
      written.push_back(&p);
    }
    for (const Place* p : operands) data.push_back(p->data);
    // Written memory is walked in order.
    written.insert(written.end(), operands.begin(), operands.end());
    std::vector<int> dims_in_order;
    order(written, s.step().space, &dims_in_order);
    const int count = static_cast<int>(operands.size());
    Argument a;
    a.add(LaunchHead{});
    a.add(static_cast<long long>(n));
    a.add(data.data(), count);
    a.add(walk_of(operands, dims_in_order, s.step().space), count);
    a.add(numbers(t));
    std::vector<const TensorBase*> used;
    for (const int v : t.inputs) {
      used.push_back(&temporaries_[static_cast<size_t>(v)]);
    }
    launch(call_.device, s.get(call_.device, ReduceShell::kRows),
           shape_for(n, kRegionThreads, kPerThread), a.data(), a.size(),
           used.data(), used.size());
    note_uses();
  }

  // A temporary for each result, contiguous over the dims that stay, in the
  // order of `kept`, fastest first.
  void make_results(const print::RegionText& t, const std::vector<int>& kept,
                    int64_t n, ReduceHead* head,
                    std::vector<const TensorBase*>* written) {
    const RegionNode& node = region_.nodes[static_cast<size_t>(t.reduction)];
    const int first = t.first_value(t.reduction);
    for (size_t i = 0; i < node.results.size(); ++i) {
      const size_t v = static_cast<size_t>(first) + i;
      const auto item = static_cast<int64_t>(element_size(node.results[i]));
      temporaries_[v] = Tensor(make_tensor({&n, 1}, node.results[i], device_));
      Place& p = places_[v];
      p.data = static_cast<char*>(temporaries_[v].raw_data());
      int64_t stride = item;
      for (const int d : kept) {
        p.strides[d] = size(d) == 1 ? 0 : stride;
        stride *= size(d);
      }
      head->results[i] = p.data;
      written->push_back(&temporaries_[v]);
    }
  }

  void reduce(const PreparedStep& s) {
    const print::RegionText& t = s.step().text;
    const RegionNode& node = region_.nodes[static_cast<size_t>(t.reduction)];
    const uint64_t reduced = s.step().reduced;
    const uint64_t keep = s.step().space & ~reduced;
    std::vector<const Place*> operands;
    std::vector<char*> data;
    std::vector<const TensorBase*> tensors;
    for (const int v : t.inputs) {
      operands.push_back(&places_[static_cast<size_t>(v)]);
      data.push_back(operands.back()->data);
      tensors.push_back(&temporaries_[static_cast<size_t>(v)]);
    }
    std::vector<int> in_order, kept;
    order(operands, s.step().space, &in_order);
    for (const int d : in_order) {
      if ((keep >> d & 1) != 0) kept.push_back(d);
    }
    const int64_t n = numel(keep), count = numel(reduced);
    ReduceHead head = {};
    make_results(t, kept, n, &head, &tensors);
    if (n == 0) return;
    SY_CHECK(count != 0 || node.identity != nullptr, Value,
             "[region] {}: expected elements to reduce, got sizes {}",
             node.name == nullptr ? "reduction" : node.name, call_.sizes);
    const int operand_count = static_cast<int>(operands.size());
    const Walk<kMostOperands> keep_walk = walk_of(operands, in_order, keep);
    const Walk<kMostOperands> reduce_walk =
        count == 0 ? Walk<kMostOperands>()
                   : walk_of(operands, in_order, reduced);
    std::vector<Number> list = numbers(t);
    const program::ComputeType accumulated = print::region_accumulated(node);
    std::vector<int64_t> sizes;
    for (int i = 0; i < node.body.n_results; ++i) {
      const bool is_bool = node.body.results[i].is_bool;
      list.push_back(node.identity == nullptr
                         ? Number{}
                         : number_of(node.identity[i], accumulated, is_bool));
      sizes.push_back(
          is_bool ? 1 : static_cast<int64_t>(compute_type_size(accumulated)));
    }
    Argument a;
    a.add(head);
    a.add(data.data(), operand_count);
    a.add(keep_walk, operand_count);
    a.add(reduce_walk, operand_count);
    a.add(list);
    // What lies closest together decides.
    const auto fastest = std::find_if(in_order.begin(), in_order.end(),
                                      [&](int d) { return size(d) != 1; });
    const bool inner =
        n == 1 || (fastest != in_order.end() && (reduced >> *fastest & 1) != 0);
    const ReduceCut cut(inner, n, count);
    StepKernels kernels(call_.device, s);
    ReduceRun run;
    run.device = call_.device;
    run.cut = &cut;
    run.kept = n;
    run.reduced = count;
    run.accumulator_sizes = sizes;
    run.outs = tensors.data();
    run.n_outs = static_cast<int>(tensors.size());
    launch_reduce(run, kernels, a.data(), a.size());
    note_uses();
  }

  static constexpr unsigned kPerThread = 4;

  const PreparedOnCuda& prepared_;
  const Region& region_;
  const RegionCall& call_;
  Device device_;
  std::vector<Place> places_;        // of values in memory
  std::vector<Tensor> temporaries_;  // of values that reductions made
};

// Work of this thread goes to the stream of the call, unless it names none.
class CallStream {
 public:
  explicit CallStream(const RegionCall& call)
      : device_(call.device),
        before_(current_stream_number(call.device)),
        changes_(call.stream != 0 && call.stream != before_) {
    if (changes_) stream_interface().set_current_stream(device_, call.stream);
  }
  ~CallStream() {
    if (changes_) stream_interface().set_current_stream(device_, before_);
  }
  CallStream(const CallStream&) = delete;
  CallStream& operator=(const CallStream&) = delete;

 private:
  int device_;
  uint64_t before_;
  bool changes_;
};

class CudaRegionEngine final : public RegionEngine {
 public:
  bool supports(const Region& region, RegionReason* why) const override {
    if (jit_mode() == JitMode::kOff) {
      why->say("kernels of regions are compiled, and SWITCHYARD_CUDA_JIT=off");
      return false;
    }
    RegionPlan plan;
    const RegionValues values(region);
    return plan_region(region, values, &plan, why);
  }

  intrusive_ptr<PreparedRegion> prepare(const Region& region) override {
    auto prepared = make_intrusive<PreparedOnCuda>(region);
    if (device_count() > 0) prepared->compile(0);
    return prepared;
  }

  void run(const PreparedRegion& prepared, const RegionCall& call) override {
    const CallStream stream(call);
    RegionRun(static_cast<const PreparedOnCuda&>(prepared), call).run();
  }
};

// Leaked: regions may be run until the process ends.
CudaRegionEngine& engine() {
  static auto* e = new CudaRegionEngine;
  return *e;
}

}  // namespace

SY_LIBRARY_IMPL(_, CUDA, m) { m.service(BackendService::kRegions, &engine()); }

}  // namespace sy::cuda
