#include "backends/cuda/engine/region_interpret.h"

#include <algorithm>
#include <cstring>

#include "backends/cuda/device/steps.cuh"
#include "backends/cuda/engine/interpret.h"
#include "backends/cuda/engine/layout.h"
#include "backends/cuda/engine/numbers.h"
#include "backends/cuda/engine/reduce_interpret.h"
#include "c10/process/error.h"

namespace sy::cuda {

namespace {

using program::ComputeType;
using program::Program;

const RegionNode& node_of(const RegionStep& s, int i) {
  return s.text.region->nodes[static_cast<size_t>(i)];
}

class Interpreting {
 public:
  explicit Interpreting(const InterpretedStep& s)
      : s_(s),
        text_(s.step->text),
        made_(static_cast<size_t>(text_.values->size())),
        places_(made_.size()) {}

  void nodes() {
    for (const int i : text_.nodes) node(i);
  }
  const RegionPlace& place(int v) const {
    const auto at = static_cast<size_t>(v);
    return made_[at].defined() ? places_[at] : s_.values[v];
  }

  const Tensor& tensor(int v) const {
    const Tensor& own = made_[static_cast<size_t>(v)];
    return own.defined() ? own : s_.temporaries[v];
  }
  // Memory for a value over the dims of `space`.
  Tensor memory(ScalarType dtype, uint64_t space) const {
    const int64_t n = s_.space->numel(space);
    return Tensor(make_tensor(
        {&n, 1}, dtype, Device(kCUDA, static_cast<int8_t>(s_.call->device))));
  }
  RegionPlace place_in(const Tensor& t, uint64_t space) const {
    return s_.space->contiguous(static_cast<char*>(t.raw_data()), t.dtype(),
                                *s_.order, space);
  }

  // Some memory, and where its elements lie in it.
  struct Memory {
    const Tensor* tensor;  // undefined for what the call's caller owns
    const RegionPlace* place;
    ScalarType dtype;
  };
  Memory value(int v) const {
    return {&tensor(v), &place(v), text_.values->dtype(v)};
  }
  // to = from, converted, over the dims of `space`.
  void copy(Memory from, Memory to, uint64_t space) const {
    static constexpr program::Result kResult{0, false};
    Program p;
    p.results = &kResult;
    p.n_inputs = 1;
    p.n_registers = 1;
    // 16-bit floats that stay keep their bits.
    if (from.dtype == to.dtype && element_size(to.dtype) == 2) {
      from.dtype = to.dtype = kShort;
    }
    PointwiseCall call;
    call.program = &p;
    call.type = program::compute_type_of(to.dtype);
    call.dtypes[0] = from.dtype;
    call.dtypes[1] = to.dtype;
    call.tensors[0] = from.tensor;
    call.tensors[1] = to.tensor;
    run(call, {from.place, to.place}, space);
  }

 private:
  void node(int i) {
    const RegionNode& n = node_of(*s_.step, i);
    const int first = text_.first_value(i);
    const uint64_t space = text_.values->dims(first);
    PointwiseCall call;
    call.program = &n.body;
    call.type = program::compute_type_of(n.compute);
    std::vector<const RegionPlace*> operands;
    int k = 0;
    for (const uint16_t v : n.inputs) {
      call.dtypes[k] = text_.values->dtype(v);
      call.tensors[k++] = &tensor(v);
      operands.push_back(&place(v));
    }
    for (size_t r = 0; r < n.results.size(); ++r) {
      const size_t v = static_cast<size_t>(first) + r;
      made_[v] = memory(n.results[r], space);
      places_[v] = place_in(made_[v], space);
      call.dtypes[k] = n.results[r];
      call.tensors[k++] = &made_[v];
      operands.push_back(&places_[v]);
    }
    const int number = text_.first_number(i);
    for (int u = 0; u < n.body.n_uniforms; ++u) {
      call.numbers[u] = s_.call->uniforms[number + u];
    }
    run(call, operands, space);
  }

  void run(PointwiseCall& call, const std::vector<const RegionPlace*>& operands,
           uint64_t space) const {
    call.name = "region";
    call.device = s_.call->device;
    const RegionWalk w = s_.space->walk(operands, *s_.order, space);
    PointwisePlaces p;
    p.n = s_.space->numel(space);
    if (p.n == 0) return;
    p.dims = w.dims;
    int64_t sizes[kWalkDims], strides[PointwiseCall::kMaxOperands][kWalkDims];
    const int64_t* rows[PointwiseCall::kMaxOperands];
    std::copy_n(w.sizes, w.dims, sizes);
    for (size_t k = 0; k < operands.size(); ++k) {
      call.data[k] = operands[k]->data;
      std::copy_n(w.strides[k], w.dims, strides[k]);
      rows[k] = strides[k];
    }
    p.sizes = sizes;
    p.strides = rows;
    interpret(call, p);
  }

  const InterpretedStep& s_;
  const print::RegionText& text_;
  std::vector<Tensor> made_;  // by value; undefined for those in memory
  std::vector<RegionPlace> places_;
};

}  // namespace

bool can_interpret(const RegionStep& s) {
  const auto takes = [&](int i) {
    const Program& p = node_of(s, i).body;
    return p.n_inputs + p.n_results <= PointwiseCall::kMaxOperands;
  };
  if (!std::all_of(s.text.nodes.begin(), s.text.nodes.end(), takes)) {
    return false;
  }
  return s.text.reduction < 0 ||
         (node_of(s, s.text.reduction).inputs.size() == 1 &&
          can_interpret(print::region_reduction(s.text)));
}

void interpret_walk(const InterpretedStep& s,
                    const std::vector<RegionPlace>& outputs) {
  const print::RegionText& t = s.step->text;
  Interpreting now(s);
  now.nodes();
  const auto output = [&](size_t i) -> const RegionOutput& {
    return t.region->outputs[static_cast<size_t>(t.outputs[i])];
  };
  const uint64_t space = s.step->space;
  // Outputs may lie in the memory of inputs, which are read before.
  const auto is_input = [&](int v) {
    return std::find(t.inputs.begin(), t.inputs.end(), v) != t.inputs.end();
  };
  std::vector<Tensor> read(outputs.size());
  std::vector<RegionPlace> places(outputs.size());
  const auto read_before = [&](size_t i) {
    return Interpreting::Memory{&read[i], &places[i], output(i).memory.dtype};
  };
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!is_input(output(i).value)) continue;
    read[i] = now.memory(output(i).memory.dtype, space);
    places[i] = now.place_in(read[i], space);
    now.copy(now.value(output(i).value), read_before(i), space);
  }
  const Tensor none;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const RegionOutput& o = output(i);
    now.copy(read[i].defined() ? read_before(i) : now.value(o.value),
             {&none, &outputs[i], o.memory.dtype}, space);
  }
}

void interpret_reduction(const InterpretedStep& s, ReduceRun run,
                         void* const* results,
                         const std::vector<Number>& nothing) {
  const RegionStep& step = *s.step;
  const RegionNode& n = node_of(step, step.text.reduction);
  const print::ReduceText text = print::region_reduction(step.text);
  Interpreting now(s);
  now.nodes();
  // Its elements in the order in which the kernel takes them.
  const int v = n.inputs[0];
  Tensor self = now.tensor(v);
  RegionPlace place = now.place(v);
  // Inputs, and other reductions' results, may lie otherwise.
  if (step.text.nodes.empty() || step.text.values->dims(v) != step.space) {
    self = now.memory(text.self, step.space);
    place = now.place_in(self, step.space);
    now.copy(now.value(v), {&self, &place, text.self}, step.space);
  }
  const auto item = static_cast<int64_t>(element_size(text.self));
  std::vector<int64_t> sizes, strides;
  for (int d = 0; d < s.space->dims() && run.reduced != 0; ++d) {
    const bool walked = (step.space >> d & 1) != 0;
    sizes.push_back(walked ? s.space->size(d) : 1);
    strides.push_back(place.strides[d] / item);
  }
  const Tensor elements(
      TensorImpl::make(self.storage(), text.self, self.device(),
                       DispatchKeySet::dense(kCUDA), sizes, strides, 0));
  const ReduceLayout layout(elements, run.reduced == 0 ? 0 : step.reduced,
                            true);
  run.layout = &layout;
  run.self = &self;
  const ComputeType type = text.type;
  const auto uniform = step.text.first_number(step.text.reduction);
  std::vector<Number> numbers;
  int at = uniform;
  for (const Program* p : {text.map, text.combine, text.finish}) {
    if (p == nullptr) continue;
    for (int i = 0; i < p->n_uniforms; ++i) {
      Number number = number_of(s.call->uniforms[at++]);
      const bool is_bool = (p->bool_uniforms >> i & 1) != 0;
      if (p == text.combine && !is_bool && text.accumulated != type) {
        number.f64 = static_cast<double>(number.f32);
      }
      numbers.push_back(number);
    }
  }
  numbers.insert(numbers.end(), nothing.begin(), nothing.end());
  interpret_reduce(text, run, results, numbers.data(),
                   static_cast<int>(numbers.size()));
}

}  // namespace sy::cuda
