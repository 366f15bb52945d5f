#include "backends/cuda/engine/region_run.h"

#include <algorithm>
#include <vector>

#include "backends/cuda/device/region_params.cuh"
#include "backends/cuda/device/region_row_params.cuh"
#include "backends/cuda/engine/argument.h"
#include "backends/cuda/engine/numbers.h"
#include "backends/cuda/engine/reduce_launch.h"
#include "backends/cuda/engine/region_interpret.h"
#include "backends/cuda/runtime/launch.h"
#include "backends/cuda/runtime/stream.h"
#include "c10/device/device_guard.h"
#include "c10/process/error.h"

namespace sy::cuda {

namespace {

using print::ReduceShell;

// The kernels of a reduction that is cut into blocks, if they are there.
class StepKernels final : public ReduceKernels {
 public:
  StepKernels(int device, const PreparedStep& step, const ReduceCut& cut,
              bool interprets) {
    if (!interprets) find(device, step, cut);
    if (ready() || !step.has_to_wait(device)) return;
    finish_compiling();
    find(device, step, cut);
  }
  bool ready() const { return first_ != nullptr && second_ != nullptr; }
  const Function& of(ReduceShell shell) override {
    return shell == ReduceShell::kPieces ? *second_ : *first_;
  }

 private:
  // Both are asked for, so that they are compiled side by side.
  void find(int device, const PreparedStep& step, const ReduceCut& cut) {
    first_ = step.find_reduction(device, cut.shell);
    second_ = cut.pieces > 1 ? step.find_reduction(device, ReduceShell::kPieces)
                             : first_;
  }
  const Function* first_ = nullptr;
  const Function* second_ = nullptr;
};

void check_interpretable(const PreparedStep& s) {
  SY_CHECK(s.interpretable(), Error,
           "[region] a kernel of it cannot be compiled: see the warning");
}

class RegionRun {
 public:
  RegionRun(const PreparedOnCuda& prepared, const RegionCall& call)
      : prepared_(prepared),
        region_(prepared.region()),
        call_(call),
        space_(call),
        device_(kCUDA, static_cast<int8_t>(call.device)),
        places_(static_cast<size_t>(prepared.values().size())),
        temporaries_(places_.size()) {
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      places_[i] = space_.place(region_.inputs[i], call.inputs[i]);
    }
  }

  void run() {
    if (run_row()) return;
    for (const PreparedStep& s : prepared_.steps()) {
      // Errors of its kernels name the operator of the node.
      const detail::DeviceCall call(name_of(s), kCUDA, call_.device);
      s.reduces() ? reduce(s) : walk(s);
    }
  }

 private:
  std::vector<Number> numbers(const std::vector<int>& list) const {
    std::vector<Number> out;
    for (const int i : list) out.push_back(number_of(call_.uniforms[i]));
    return out;
  }
  // The accumulators of no elements.
  void add_nothing(const print::RegionText& t, std::vector<Number>* to) const {
    const print::ReduceText r = print::region_reduction(t);
    const RegionNode& node = region_.nodes[static_cast<size_t>(t.reduction)];
    for (int i = 0; i < r.accumulators; ++i) {
      to->push_back(
          node.identity == nullptr
              ? Number{}
              : number_of(node.identity[i], r.accumulated, r.is_bool(i)));
    }
  }

  // All steps by one kernel. False if the operands do not lie as it needs, or
  // it is not compiled yet.
  bool run_row() {
    const PreparedRow* const row = prepared_.row();
    if (row == nullptr) return false;
    const RegionRowStep& s = row->step();
    const print::RegionRowText& t = s.text;
    const uint64_t keep = s.space & ~s.reduced;
    const int64_t n = space_.numel(keep), length = space_.numel(s.reduced);
    if (n == 0 || length == 0) return false;
    const ReduceCut cut(true, n, length);
    if (cut.pieces != 1) return false;
    std::vector<RegionPlace> outputs;
    for (const auto* list : {&t.elements.outputs, &t.rows.outputs}) {
      for (const int o : *list) {
        outputs.push_back(
            space_.place(region_.outputs[static_cast<size_t>(o)].memory,
                         call_.outputs[static_cast<size_t>(o)]));
      }
    }
    std::vector<const RegionPlace*> operands, kept;
    std::vector<char*> data;
    for (size_t i = 0; i < t.elements.inputs.size(); ++i) {
      operands.push_back(&places_[static_cast<size_t>(t.elements.inputs[i])]);
      if ((t.kept >> i & 1) != 0) kept.push_back(operands.back());
    }
    for (const RegionPlace& p : outputs) operands.push_back(&p);
    for (const RegionPlace* p : operands) data.push_back(p->data);
    const std::vector<int> order = space_.order(kept, s.space);
    const RegionWalk elements = space_.walk(operands, order, s.reduced);
    // The elements of a row lie together.
    bool together = elements.dims == 1;
    for (size_t i = 0; i < t.elements.inputs.size(); ++i) {
      const int v = t.elements.inputs[i];
      together &=
          (t.kept >> i & 1) == 0 || length == 1 ||
          elements.strides[i][0] ==
              static_cast<int64_t>(element_size(t.elements.values->dtype(v)));
    }
    if (!together) return false;
    const Function* f = row->find(call_.device);
    if (f == nullptr && has_to_wait()) {
      finish_compiling();
      f = row->find(call_.device);
    }
    interprets_ = f == nullptr && all_steps(&PreparedStep::interpretable);
    if (f == nullptr) return false;

    // Shared memory without asking for more than every device gives.
    constexpr int64_t kRoom = 48 << 10;
    const int64_t side = kReduceThreads / cut.lanes;
    const int64_t padded = (length + 7) / 8 * 8;
    const int64_t bytes = padded * print::region_row_bytes(t);
    const bool resident = side * bytes <= kRoom;
    const int count = static_cast<int>(operands.size());
    Argument a;
    a.add(LaunchHead{});
    a.add(static_cast<long long>(n));
    a.add(static_cast<long long>(length));
    a.add(static_cast<long long>(padded));
    struct {
      int lanes, kept;
    } const room = {cut.lanes, resident ? static_cast<int>(bytes) : 0};
    a.add(room);
    a.add_data(data.data(), count);
    a.add_places(space_.walk(operands, order, keep), count);
    a.add_places(elements, count);
    std::vector<Number> list = numbers(print::region_row_numbers(t));
    for (const print::RegionText& p : t.phases) {
      add_nothing(p, &list);
    }
    a.add_numbers(list.data(), list.size());
    const detail::DeviceCall named(name_of(prepared_.steps().front()), kCUDA,
                                   call_.device);
    LaunchShape shape = shape_for(n, 1, static_cast<unsigned>(side));
    shape.block.x = kReduceThreads;
    shape.shared_bytes = static_cast<unsigned>(resident ? side * bytes : 0);
    launch(call_.device, *f, shape, a.data(), a.size(), nullptr, 0);
    note_uses();
    return true;
  }
  bool all_steps(bool (PreparedStep::*what)() const) const {
    const std::vector<PreparedStep>& steps = prepared_.steps();
    return std::all_of(steps.begin(), steps.end(),
                       [&](const PreparedStep& s) { return (s.*what)(); });
  }
  bool has_to_wait() const {
    const std::vector<PreparedStep>& steps = prepared_.steps();
    return std::any_of(steps.begin(), steps.end(), [&](const PreparedStep& s) {
      return s.has_to_wait(call_.device);
    });
  }
  static const OperatorEntry* name_of(const PreparedStep& s) {
    return s.named() != nullptr ? s.named() : running_operator();
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

  InterpretedStep interpreted(const PreparedStep& s,
                              const std::vector<int>& order) const {
    return {&s.step(),           &space_, &call_, places_.data(),
            temporaries_.data(), &order};
  }

  void walk(const PreparedStep& s) {
    const print::RegionText& t = s.step().text;
    const int64_t n = space_.numel(s.step().space);
    if (n == 0) return;
    std::vector<RegionPlace> outputs;
    for (const int o : t.outputs) {
      outputs.push_back(
          space_.place(region_.outputs[static_cast<size_t>(o)].memory,
                       call_.outputs[static_cast<size_t>(o)]));
    }
    std::vector<const RegionPlace*> operands, written;
    std::vector<char*> data;
    for (const int v : t.inputs) {
      operands.push_back(&places_[static_cast<size_t>(v)]);
    }
    for (const RegionPlace& p : outputs) {
      operands.push_back(&p);
      written.push_back(&p);
    }
    for (const RegionPlace* p : operands) data.push_back(p->data);
    // Written memory is walked in order.
    written.insert(written.end(), operands.begin(), operands.end());
    const std::vector<int> order = space_.order(written, s.step().space);
    const RegionWalk w = space_.walk(operands, order, s.step().space);
    const RegionWalkShape shape = s.shape_of(operands, w);
    const Function* f = nullptr;
    if (!interprets_) f = s.find_walk(call_.device, shape.packs);
    if (f == nullptr && s.has_to_wait(call_.device)) {
      finish_compiling();
      f = s.find_walk(call_.device, shape.packs);
    }
    if (f == nullptr) {
      check_interpretable(s);
      interpret_walk(interpreted(s, order), outputs);
      return note_uses();
    }
    const int count = static_cast<int>(operands.size());
    Argument a;
    a.add(LaunchHead{});
    a.add(static_cast<long long>(n));
    a.add(static_cast<long long>(shape.skipped));
    a.add(static_cast<long long>(shape.n_packs));
    a.add_data(data.data(), count);
    a.add_places(w, count);
    const std::vector<Number> list = numbers(print::region_numbers(t));
    a.add_numbers(list.data(), list.size());
    std::vector<const TensorBase*> used;
    for (const int v : t.inputs) {
      used.push_back(&temporaries_[static_cast<size_t>(v)]);
    }
    const bool packed = shape.packs.width > 1;
    launch(call_.device, *f,
           shape_for(
               packed ? shape.n_packs : n, kRegionThreads,
               packed ? static_cast<unsigned>(shape.packs.unroll) : kPerThread),
           a.data(), a.size(), used.data(), used.size());
    note_uses();
  }

  // A temporary for each result, contiguous over the dims that stay.
  void make_results(const print::RegionText& t, const std::vector<int>& order,
                    uint64_t kept, ReduceHead* head,
                    std::vector<const TensorBase*>* written) {
    const RegionNode& node = region_.nodes[static_cast<size_t>(t.reduction)];
    const int first = t.first_value(t.reduction);
    const int64_t n = space_.numel(kept);
    for (size_t i = 0; i < node.results.size(); ++i) {
      const size_t v = static_cast<size_t>(first) + i;
      temporaries_[v] = Tensor(make_tensor({&n, 1}, node.results[i], device_));
      places_[v] =
          space_.contiguous(static_cast<char*>(temporaries_[v].raw_data()),
                            node.results[i], order, kept);
      head->results[i] = places_[v].data;
      written->push_back(&temporaries_[v]);
    }
  }

  void reduce(const PreparedStep& s) {
    const print::RegionText& t = s.step().text;
    const RegionNode& node = region_.nodes[static_cast<size_t>(t.reduction)];
    const uint64_t reduced = s.step().reduced;
    const uint64_t keep = s.step().space & ~reduced;
    std::vector<const RegionPlace*> operands;
    std::vector<char*> data;
    std::vector<const TensorBase*> tensors;
    for (const int v : t.inputs) {
      operands.push_back(&places_[static_cast<size_t>(v)]);
      data.push_back(operands.back()->data);
      tensors.push_back(&temporaries_[static_cast<size_t>(v)]);
    }
    const std::vector<int> order = space_.order(operands, s.step().space);
    const int64_t n = space_.numel(keep), count = space_.numel(reduced);
    ReduceHead head = {};
    make_results(t, order, keep, &head, &tensors);
    if (n == 0) return;
    SY_CHECK(count != 0 || node.identity != nullptr, Value,
             "[region] {}: expected elements to reduce, got sizes {}",
             node.name == nullptr ? "reduction" : node.name, call_.sizes);
    std::vector<Number> nothing;
    add_nothing(t, &nothing);
    const print::ReduceText text = print::region_reduction(t);
    std::vector<int64_t> sizes;
    for (int i = 0; i < text.accumulators; ++i) {
      sizes.push_back(text.accumulator_bytes(i));
    }
    // The dim along which elements lie closest together decides.
    const auto fastest = std::find_if(
        order.begin(), order.end(), [&](int d) { return space_.size(d) != 1; });
    const bool inner =
        n == 1 || (fastest != order.end() && (reduced >> *fastest & 1) != 0);
    const ReduceCut cut(inner, n, count);
    ReduceRun run;
    run.device = call_.device;
    run.cut = &cut;
    run.kept = n;
    run.reduced = count;
    run.accumulator_sizes = sizes;
    run.outs = tensors.data();
    run.n_outs = static_cast<int>(tensors.size());
    StepKernels kernels(call_.device, s, cut, interprets_);
    if (!kernels.ready()) {
      check_interpretable(s);
      interpret_reduction(interpreted(s, order), run, head.results, nothing);
      return note_uses();
    }
    const int operand_count = static_cast<int>(operands.size());
    const RegionWalk keep_walk = space_.walk(operands, order, keep);
    const RegionWalk reduce_walk =
        count == 0 ? RegionWalk() : space_.walk(operands, order, reduced);
    std::vector<Number> list = numbers(print::region_numbers(t));
    list.insert(list.end(), nothing.begin(), nothing.end());
    Argument a;
    a.add(head);
    a.add_data(data.data(), operand_count);
    a.add_places(keep_walk, operand_count);
    a.add_places(reduce_walk, operand_count);
    a.add_numbers(list.data(), list.size());
    launch_reduce(run, kernels, a.data(), a.size());
    note_uses();
  }

  static constexpr unsigned kPerThread = 4;

  const PreparedOnCuda& prepared_;
  const Region& region_;
  const RegionCall& call_;
  RegionSpace space_;
  Device device_;
  std::vector<RegionPlace> places_;  // of values in memory
  // Whether the kernel of all steps is being compiled.
  bool interprets_ = false;
  std::vector<Tensor> temporaries_;  // of values that reductions made
};

}  // namespace

void run_region_steps(const PreparedOnCuda& prepared, const RegionCall& call) {
  RegionRun(prepared, call).run();
}

}  // namespace sy::cuda
