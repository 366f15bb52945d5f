#include "aten/backend/region_builder.h"

#include <algorithm>

#include "aten/program/program.h"
#include "c10/tensor/storage.h"

namespace sy {

namespace {

// Strides of a tensor along dims of these sizes; 0 where it is broadcast.
void strides_along(IntArrayRef sizes, const TensorBase& t, const char* what,
                   int64_t* out) {
  const size_t n = sizes.size(), own = static_cast<size_t>(t.dim());
  SY_CHECK(own <= n, Value,
           "[region] {}: expected sizes that broadcast to {}, got {}", what,
           sizes, t.sizes());
  for (size_t d = 0; d < n; ++d) {
    out[d] = 0;
    if (d + own < n) continue;
    const size_t from = d + own - n;
    if (t.sizes()[from] == 1) continue;
    SY_CHECK(t.sizes()[from] == sizes[d], Value,
             "[region] {}: expected sizes that broadcast to {}, got {}", what,
             sizes, t.sizes());
    out[d] = t.strides()[from];
  }
}

}  // namespace

RegionBuilder::RegionBuilder(IntArrayRef sizes) : sizes_(sizes.vec()) {}

template <class T>
ArrayRef<T> RegionBuilder::keep(std::deque<std::vector<T>>* lists,
                                ArrayRef<T> list) {
  lists->push_back(list.vec());
  return lists->back();
}

const program::Program& RegionBuilder::keep(const program::Program& p) {
  OwnProgram& own = programs_.emplace_back();
  own.steps.assign(p.steps, p.steps + p.n_steps);
  own.results.assign(p.results, p.results + p.n_results);
  own.view = p;
  own.view.steps = own.steps.data();
  own.view.results = own.results.data();
  return own.view;
}

int RegionBuilder::input(ScalarType dtype, IntArrayRef strides) {
  SY_CHECK(nodes_.empty(), Value,
           "[region] expected inputs before the first node");
  inputs_.push_back({dtype, keep(&strides_, strides)});
  value_dtypes_.push_back(dtype);
  return next_++;
}

int RegionBuilder::input(const TensorBase& t, bool open) {
  std::vector<int64_t> strides(sizes_.size());
  strides_along(sizes_, t, "input", strides.data());
  if (open) {
    for (int64_t& s : strides) s = s == 0 ? 0 : kOpen;
  }
  return input(t.scalar_type(), strides);
}

int RegionBuilder::add(RegionNode node, ArrayRef<int> inputs,
                       ArrayRef<ScalarType> results) {
  std::vector<uint16_t> values;
  for (const int v : inputs) {
    SY_CHECK(v >= 0 && v < next_, Value,
             "[region] expected a value below {}, got {}", next_, v);
    values.push_back(static_cast<uint16_t>(v));
  }
  node.inputs = keep(&values_, ArrayRef<uint16_t>(values));
  node.results = keep(&dtypes_, results);
  nodes_.push_back(node);
  const int first = next_;
  next_ += static_cast<int>(results.size());
  value_dtypes_.insert(value_dtypes_.end(), results.begin(), results.end());
  return first;
}

int RegionBuilder::pointwise(const program::Program& p, ScalarType compute,
                             ArrayRef<int> inputs, ArrayRef<ScalarType> results,
                             const char* name) {
  RegionNode node;
  node.compute = compute;
  node.body = keep(p);
  node.name = name;
  return add(node, inputs, results);
}

int RegionBuilder::pointwise(const PointwiseOp& op, const PointwiseArgs& args,
                             ArrayRef<int> inputs) {
  PointwisePlan plan;
  plan_pointwise(op, args, &plan);
  const ElementProgram& given = select_program(op, args);
  const program::Program& p = given.body;
  std::vector<ScalarType> results;
  for (int i = 0; i < p.n_results; ++i) {
    results.push_back(p.results[i].is_bool ? kBool : plan.compute);
  }
  const int value = pointwise(p, plan.compute, inputs, results, op.name);
  const size_t first = uniforms_.size();
  uniforms_.resize(first + p.n_uniforms);
  eval_call_uniforms(op, given, args, plan.compute, uniforms_.data() + first);
  return value;
}

int RegionBuilder::cast(int value, ScalarType to) {
  SY_CHECK(value >= 0 && value < next_, Value,
           "[region] cast: expected a value below {}, got {}", next_, value);
  static constexpr program::Result kInput{0, false};
  program::Program p;
  p.n_inputs = 1;
  p.n_registers = 1;
  p.results = &kInput;
  return pointwise(p, value_dtypes_[static_cast<size_t>(value)], value, to,
                   "cast");
}

int RegionBuilder::reduce(const RegionNode& given, ArrayRef<int> inputs) {
  RegionNode node = given;
  node.kind = RegionNode::kReduce;
  node.body = keep(given.body);
  if (given.combine != nullptr) node.combine = &keep(*given.combine);
  if (given.finish != nullptr) node.finish = &keep(*given.finish);
  return add(node, inputs, given.results);
}

void RegionBuilder::add_uniforms(const ElementProgram& p, const Scalar* scalars,
                                 int64_t count, ScalarType compute) {
  const size_t first = uniforms_.size();
  uniforms_.resize(first + p.body.n_uniforms);
  eval_uniforms(p, scalars, count, program::compute_type_of(compute),
                uniforms_.data() + first);
}

int RegionBuilder::reduce(const ReduceOp& op, const ReduceArgs& args, int input,
                          uint64_t reduced) {
  ReducePlan plan;
  plan_reduce(op, args, &plan);
  RegionNode node;
  node.compute = plan.compute;
  node.body = op.map.body;
  node.combine = &op.combine.body;
  node.finish = op.finish == nullptr ? nullptr : &op.finish->body;
  node.identity = op.identity;
  node.reduced = reduced;
  node.name = op.name;
  node.results = {plan.results, op.n_results};
  const int value = reduce(node, input);
  add_uniforms(op.map, args.scalars, plan.count, plan.compute);
  add_uniforms(op.combine, args.scalars, plan.count, plan.compute);
  if (op.finish != nullptr) {
    add_uniforms(*op.finish, args.scalars, plan.count, plan.compute);
  }
  return value;
}

int RegionBuilder::product(int a, int b, uint64_t reduced, ScalarType dtype) {
  RegionNode node;
  node.kind = RegionNode::kProduct;
  node.compute = dtype;
  node.reduced = reduced;
  return add(node, {a, b}, dtype);
}

int RegionBuilder::convolution(int x, int weight, uint64_t reduced,
                               ScalarType dtype,
                               ArrayRef<RegionWindow> windows) {
  RegionNode node;
  node.kind = RegionNode::kConvolution;
  node.compute = dtype;
  node.reduced = reduced;
  node.windows = keep(&windows_, windows);
  return add(node, {x, weight}, dtype);
}

int RegionBuilder::output(int value, ScalarType dtype, IntArrayRef strides,
                          int donor) {
  SY_CHECK(value >= 0 && value < next_, Value,
           "[region] output: expected a value below {}, got {}", next_, value);
  outputs_.push_back({{dtype, keep(&strides_, strides)},
                      static_cast<uint16_t>(value),
                      static_cast<int16_t>(donor)});
  return static_cast<int>(outputs_.size()) - 1;
}

int RegionBuilder::output(int value, const TensorBase& t, int donor) {
  std::vector<int64_t> strides(sizes_.size());
  strides_along(sizes_, t, "output", strides.data());
  return output(value, t.scalar_type(), strides, donor);
}

Region RegionBuilder::region() { return {sizes_, inputs_, nodes_, outputs_}; }

RegionMemory region_memory(const RegionOperand& operand, IntArrayRef sizes,
                           const TensorBase& t, int64_t* strides,
                           const char* what) {
  SY_CHECK(t.defined(), Value,
           "[region] {}: expected a tensor, got an undefined one", what);
  SY_CHECK(t.scalar_type() == operand.dtype, Type,
           "[region] {}: expected {}, got {}", what, operand.dtype,
           t.scalar_type());
  strides_along(sizes, t, what, strides);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (operand.strides[d] == 0 && sizes[d] != 1) {
      SY_CHECK(strides[d] == 0, Value,
               "[region] {}: expected one element along dim {}, got sizes {}",
               what, d, t.sizes());
    }
  }
  t.impl()->const_data("region");
  return {t.raw_data(), strides, t.scalar_type(), t.storage().get()};
}

void run_region(const RegionHandle& handle, IntArrayRef sizes,
                ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs,
                ArrayRef<program::Uniform> uniforms) {
  SY_CHECK(handle.defined(), Value,
           "[region] expected a prepared one, got an empty handle");
  const Region& r = handle.region();
  const auto count = [](const char* what, size_t expected, size_t got) {
    SY_CHECK(expected == got, Value, "[region] expected {} {}, got {}",
             expected, what, got);
  };
  count("inputs", r.inputs.size(), inputs.size());
  count("outputs", r.outputs.size(), outputs.size());
  count("sizes", r.sizes.size(), sizes.size());
  std::vector<int64_t> strides((inputs.size() + outputs.size()) * sizes.size());
  std::vector<RegionMemory> memory;
  int64_t* at = strides.data();
  RegionCall call;
  for (size_t i = 0; i < inputs.size(); ++i, at += sizes.size()) {
    memory.push_back(
        region_memory(r.inputs[i], sizes, inputs[i], at, "an input"));
  }
  for (size_t i = 0; i < outputs.size(); ++i, at += sizes.size()) {
    memory.push_back(
        region_memory(r.outputs[i].memory, sizes, outputs[i], at, "an output"));
    SY_CHECK(outputs[i].device().type() == handle.device(), Value,
             "[region] an output: expected a tensor of the region's device, "
             "got one on {}",
             outputs[i].device());
    call.device = std::max<int32_t>(outputs[i].device().index(), 0);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    SY_CHECK(inputs[i].device().type() == handle.device(), Value,
             "[region] an input: expected a tensor of the region's device, got "
             "one on {}",
             inputs[i].device());
  }
  call.sizes = sizes;
  call.inputs = {memory.data(), inputs.size()};
  call.outputs = {memory.data() + inputs.size(), outputs.size()};
  call.uniforms = uniforms.data();
  call.n_uniforms = static_cast<int32_t>(uniforms.size());
  handle.run(call);
}

}  // namespace sy
