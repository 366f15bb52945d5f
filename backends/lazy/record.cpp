#include <algorithm>
#include <bit>

#include "aten/backend/cpu_fallback.h"
#include "aten/backend/node.h"
#include "aten/backend/write_plan.h"
#include "aten/engine/copy.h"
#include "aten/ops/factory.h"
#include "backends/lazy/graph.h"
#include "backends/lazy/run.h"
#include "c10/plugin/library.h"
#include "c10/schema/function_schema.h"

// The kernels of the lazy device. An operator that gives fresh results is
// recorded; one that writes comes here as that and a copy to what it writes.

namespace sy::lazy {

namespace {

using Recorded = intrusive_ptr<Node>;

// ---- any operator, as a call of its kernel

// The arguments with nothing in the places of tensors, which become operands.
void take_arguments(Node* node, const Value* args, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const Value& v = args[i];
    switch (v.tag()) {
      case Value::Tag::Tensor:
        node->add_operand(operand_of(v.to_tensor()));
        node->tensors |= uint64_t{1} << i;
        node->args.emplace_back();
        break;
      case Value::Tag::TensorList:
      case Value::Tag::OptionalTensorList: {
        Node::List list{i, v.tag() == Value::Tag::OptionalTensorList, {}};
        for (const TensorBase& t : v.to_tensor_list()) {
          list.present.push_back(t.defined());
          if (t.defined()) node->add_operand(operand_of(t));
        }
        node->lists.push_back(std::move(list));
        node->args.emplace_back();
        break;
      }
      case Value::Tag::Device:
        node->args.push_back(v.to_device().is_lazy() ? Value(inner_device())
                                                     : v);
        break;
      default: node->args.push_back(v);
    }
  }
}

bool is_whole(const TensorBase& t) {
  return t.storage_offset() == 0 && t.impl()->is_non_overlapping_and_dense() &&
         static_cast<size_t>(t.numel()) * t.itemsize() == t.storage()->nbytes();
}

// ---- pointwise operators and reductions, by their programs

// Whether the operands of the call are those of the program, in order.
bool has_inputs(const Node& node, const NodeDesc& desc) {
  if (desc.n_inputs == 0 || node.operands.size() != desc.n_inputs ||
      !node.lists.empty()) {
    return false;
  }
  for (int i = 0; i < desc.n_inputs; ++i) {
    const uint8_t at = desc.inputs[i];
    if ((node.tensors >> at & 1) == 0 || (i > 0 && at < desc.inputs[i - 1])) {
      return false;
    }
  }
  return true;
}

void make_pointwise(Node* node, const PointwiseNode& call) {
  const PointwiseOp& p = call.op();
  const PointwiseArgs args = call.args();
  PointwisePlan plan;
  plan_pointwise(p, args, &plan);
  Dims strides;
  result_strides(p, args, plan.sizes, &strides);
  node->kind = Node::kPointwise;
  const ElementProgram& program = select_program(p, args);
  node->program = &program.body;
  node->compute = plan.compute;
  node->uniforms.resize(program.body.n_uniforms);
  eval_call_uniforms(p, program, args, plan.compute, node->uniforms.data());
  for (int i = 0; i < program.body.n_results; ++i) {
    const bool truth = program.body.results[i].is_bool;
    node->made.emplace_back(
        Layout(truth ? kBool : plan.compute, plan.sizes, strides));
  }
}

void add_uniforms(const ElementProgram& p, const ReduceArgs& args,
                  const ReducePlan& plan, Node* node) {
  const size_t first = node->uniforms.size();
  node->uniforms.resize(first + p.body.n_uniforms);
  eval_uniforms(p, args.scalars, plan.count,
                program::compute_type_of(plan.compute),
                node->uniforms.data() + first);
}

void make_reduce(Node* node, const ReduceNode& call) {
  const ReduceOp& p = call.op();
  const ReduceArgs& args = call.args();
  ReducePlan plan;
  plan_reduce(p, args, &plan);
  node->kind = Node::kReduce;
  node->reduce = &p;
  node->reduced = plan.reduced;
  node->keepdim = args.keepdim;
  node->compute = plan.compute;
  add_uniforms(p.map, args, plan, node);
  add_uniforms(p.combine, args, plan, node);
  if (p.finish != nullptr) add_uniforms(*p.finish, args, plan, node);
  Dims strides;
  strides.resize(plan.sizes.size());
  contiguous_strides(plan.sizes, strides.data());
  for (int i = 0; i < p.n_results; ++i) {
    node->made.emplace_back(Layout(plan.results[i], plan.sizes, strides));
  }
}

// A dtype argument narrower than what is accumulated rounds the elements first.
bool rounds_first(const ReduceArgs& args) {
  return args.dtype && *args.dtype != args.self->scalar_type() &&
         (*args.dtype == kHalf || *args.dtype == kBFloat16 ||
          is_integral_type(*args.dtype, true));
}

// False: the operator has no program, or the call does not fit it.
bool make_by_program(Node* node, const OperatorEntry& op, const Value* args) {
  const NodeDesc* const desc = node_desc(op);
  if (desc == nullptr || !has_inputs(*node, *desc)) return false;
  if (desc->pointwise != nullptr) {
    make_pointwise(node, PointwiseNode(*desc, args));
  } else if (desc->reduce != nullptr) {
    const ReduceNode call(*desc, args);
    if (rounds_first(call.args())) return false;
    make_reduce(node, call);
  } else {
    return false;
  }
  return true;
}

// The layouts of the results that a call will have; false if that takes data,
// or if results are no tensors of their own.
bool infer(const OperatorEntry& op, const Value* args, size_t n,
           std::vector<Value>* shapes) {
  try {
    *shapes = infer_results(OperatorHandle(&op), args, n);
  } catch (const NotImplementedError&) {
    return false;
  }
  for (size_t i = 0; i < shapes->size(); ++i) {
    const Value& v = (*shapes)[i];
    if (v.is_none()) continue;
    if (!v.is_tensor() || !is_whole(v.to_tensor())) return false;
    for (size_t k = 0; k < i; ++k) {
      const Value& other = (*shapes)[k];
      if (other.is_tensor() && other.to_tensor().is_alias_of(v.to_tensor())) {
        return false;
      }
    }
  }
  return true;
}

bool add_results(Node* node, const OperatorEntry& op, const Value* args,
                 size_t n) {
  std::vector<Value> shapes;
  if (!infer(op, args, n, &shapes)) return false;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (!shapes[i].is_tensor()) continue;
    const TensorBase& t = shapes[i].to_tensor();
    node->made.emplace_back(Layout(t.scalar_type(), t.sizes(), t.strides()));
    node->result_of.push_back(static_cast<int8_t>(i));
  }
  return !node->made.empty();
}

// nullptr: the call has to run now.
Recorded make_node(const OperatorEntry& op, const Value* args, size_t n) {
  auto node = make_intrusive<Node>(Node::kCall, &op);
  take_arguments(node.get(), args, n);
  if (make_by_program(node.get(), op, args)) return node;
  return add_results(node.get(), op, args, n) ? node : nullptr;
}

// ---- calls that run at once

Value to_lazy(const Value& v) {
  const auto lift = [](const TensorBase& t) -> TensorBase {
    if (!t.defined()) return t;
    Tensor inner{TensorBase(t)};
    if (!is_whole(t)) {
      const PlainModes modes;
      inner = copied_to_inner(t);
    }
    const std::lock_guard lock(graph_mutex());
    return tensor_of(data_of(inner), 0);
  };
  if (v.is_tensor()) return Value(lift(v.to_tensor()));
  if (v.tag() != Value::Tag::TensorList) return v;
  std::vector<TensorBase> list;
  for (const TensorBase& t : v.to_tensor_list()) list.push_back(lift(t));
  return Value::tensor_list(list.data(), list.size());
}

void run_at_once(const OperatorEntry& op, const Value* args, size_t n,
                 Value* results, size_t num_results) {
  const auto call = make_intrusive<Node>(Node::kCall, &op);
  {
    const std::lock_guard lock(graph_mutex());
    ++counters().ran_at_once;
    take_arguments(call.get(), args, n);
  }
  compute({call->operands.data(), call->operands.size()}, Cause::kCall, &op);
  std::vector<Value> inner = arguments_of(*call), out;
  call_inner(op, inner, &out);
  inner.clear();
  for (size_t i = 0; i < num_results; ++i) results[i] = to_lazy(out[i]);
}

// ---- kernels

// Makes tensors of the first `own` values that the node makes.
bool keep(const Recorded& node, Value* results, size_t num_results,
          size_t own = SIZE_MAX) {
  if (node == nullptr) return false;
  add_recorded(node);
  std::fill_n(results, num_results, Value());
  for (size_t i = 0; i < std::min(own, node->made.size()); ++i) {
    const size_t at =
        node->result_of.empty() ? i : static_cast<size_t>(node->result_of[i]);
    results[at] = Value(TensorBase(tensor_of(node, static_cast<uint16_t>(i))));
  }
  return true;
}

void record(const Kernel&, const OperatorEntry& op, DispatchKeySet, Value* args,
            size_t num_args, Value* results, size_t num_results) {
  bool kept;
  {
    const std::lock_guard lock(graph_mutex());
    kept = keep(make_node(op, args, num_args), results, num_results);
  }
  if (kept) return run_if_too_large(op.name().data());
  run_at_once(op, args, num_args, results, num_results);
}

// empty and empty_strided: memory that nobody sets is taken when it is written.
void record_empty(const Kernel&, const OperatorEntry& op, DispatchKeySet,
                  Value* args, size_t num_args, Value* results,
                  size_t num_results) {
  {
    const std::lock_guard lock(graph_mutex());
    auto node = make_intrusive<Node>(Node::kEmpty, &op);
    if (!add_results(node.get(), op, args, num_args)) node.reset();
    if (keep(node, results, num_results)) return;
  }
  run_at_once(op, args, num_args, results, num_results);
}

// ---- operators that write arguments beside what they return

// The operands that are written; false if one of them is not all that its
// storage has, is read as another argument too, or may be written by a pointer.
bool find_written(Node* node, const OperatorEntry& op, const Value* args) {
  if (!node->lists.empty()) return false;
  for (const int8_t w : write_plan(op).written) {
    const Value& v = args[w];
    if (v.is_none()) continue;
    const TensorBase& t = v.to_tensor();
    const auto below = node->tensors & ((uint64_t{1} << w) - 1);
    const auto at = static_cast<uint8_t>(std::popcount(below));
    const Operand& o = node->operands[at];
    if (!is_lazy(t) || o.part || !is_whole(t) || t.storage()->is_handed_out()) {
      return false;
    }
    for (const Operand& other : node->operands) {
      if (&other != &o && other.node == o.node) return false;
    }
    node->written.push_back(at);
  }
  return true;
}

bool keep_writing(const OperatorEntry& op, const Value* args, size_t n,
                  Value* results, size_t num_results) {
  const std::lock_guard lock(graph_mutex());
  const auto node = make_intrusive<Node>(Node::kCall, &op);
  take_arguments(node.get(), args, n);
  if (!find_written(node.get(), op, args) ||
      !add_results(node.get(), op, args, n)) {
    return false;
  }
  const size_t own = node->made.size();
  for (const uint8_t w : node->written) {
    node->made.emplace_back(Layout(node->operands[w].layout()));
  }
  keep(node, results, num_results, own);
  size_t k = own;
  for (const int8_t w : write_plan(op).written) {
    if (args[w].is_none()) continue;
    give_value(args[w].to_tensor(), node, static_cast<uint16_t>(k++));
  }
  return true;
}

void record_writing(const Kernel& kernel, const OperatorEntry& op,
                    DispatchKeySet keys, Value* args, size_t num_args,
                    Value* results, size_t num_results) {
  if (keep_writing(op, args, num_args, results, num_results)) {
    return run_if_too_large(op.name().data());
  }
  {
    const std::lock_guard lock(graph_mutex());
    ++counters().ran_at_once;
  }
  cpu_fallback(kernel, op, keys, args, num_args, results, num_results);
}

// An in-place operator that draws every element anew: it runs at once on fresh
// memory, so that numbers come in the order of the calls, and needs no value.
void draw(const Kernel& kernel, const OperatorEntry& op, DispatchKeySet keys,
          Value* args, size_t num_args, Value* results, size_t num_results) {
  const TensorBase& self = args[0].to_tensor();
  bool alone = is_lazy(self) && is_whole(self) && num_results == 1 &&
               !self.storage()->is_handed_out();
  for (size_t i = 1; i < num_args; ++i) alone = alone && !args[i].is_tensor();
  if (!alone || self.numel() == 0) {
    return cpu_fallback(kernel, op, keys, args, num_args, results, num_results);
  }
  const Layout layout(self.dtype(), self.sizes(), self.strides());
  const Tensor fresh =
      tensor_in(StorageImpl::allocate(layout.bytes(), inner_device()), layout);
  std::vector<Value> inner(args, args + num_args), out;
  inner[0] = Value(TensorBase(fresh));
  call_inner(op, inner, &out);
  out.clear();
  {
    const std::lock_guard lock(graph_mutex());
    ++counters().ran_at_once;
    give_value(self, data_of(fresh), 0);
  }
  results[0] = args[0];
}

void at_once(const Kernel&, const OperatorEntry& op, DispatchKeySet,
             Value* args, size_t num_args, Value* results, size_t num_results) {
  run_at_once(op, args, num_args, results, num_results);
}

// Operators that have neither a kernel nor parts. Those that write do so on
// copies of what they write.
void fallback(const Kernel& kernel, const OperatorEntry& op,
              DispatchKeySet keys, Value* args, size_t num_args, Value* results,
              size_t num_results) {
  if (op.has_flag(OperatorDef::kWrites) || op.has_flag(OperatorDef::kAliases)) {
    {
      const std::lock_guard lock(graph_mutex());
      ++counters().ran_at_once;
    }
    return cpu_fallback(kernel, op, keys, args, num_args, results, num_results);
  }
  run_at_once(op, args, num_args, results, num_results);
}

// ---- copies

constexpr program::Result kInput{0, false};
program::Program identity() {
  program::Program p;
  p.n_inputs = 1;
  p.n_registers = 1;
  p.results = &kInput;
  return p;
}

const OperatorEntry& copy_entry() {
  static const OperatorEntry& e =
      Dispatcher::singleton().find_or_throw("aten::copy_").entry();
  return e;
}

// A value that lies as `dst` does, with the elements of `src`.
Recorded record_cast(Operand src, const TensorBase& dst) {
  static const program::Program program = identity();
  auto node = make_intrusive<Node>(Node::kPointwise, &copy_entry());
  node->program = &program;
  node->compute = src.layout().dtype;
  node->made.emplace_back(Layout(dst.dtype(), dst.sizes(), dst.strides()));
  node->add_operand(std::move(src));
  return node;
}

// The value of the storage of `dst` with other elements where `dst` lies.
Recorded record_write(Operand src, const TensorBase& dst) {
  Operand base;
  LazyValue* const value = value_of(*dst.storage());
  base.node = value != nullptr ? value->node : value_of_memory(dst);
  base.result = value != nullptr ? value->result : uint16_t{0};
  auto node = make_intrusive<Node>(Node::kWrite, nullptr);
  const Layout& l = base.layout();
  node->made.emplace_back(l);
  node->window = std::make_unique<Layout>(dst.dtype(), dst.sizes(),
                                          dst.strides(), dst.storage_offset());
  node->add_operand(std::move(base));
  node->add_operand(std::move(src));
  return node;
}

void copy_to_lazy(const TensorBase& dst, const TensorBase& src) {
  if (dst.numel() == 0) return;
  StorageImpl& s = *dst.storage();
  std::unique_lock lock(graph_mutex());
  Operand from = operand_of(src);
  if (s.data_acquire() != nullptr && s.is_handed_out()) {
    // Somebody has a pointer to it, and expects to see the elements there.
    lock.unlock();
    compute(ArrayRef<Operand>(&from, 1), Cause::kPointer, &copy_entry());
    return copy_between(dst, from.tensor());
  }
  const bool whole = is_whole(dst);
  if (whole && !from.part && from.layout().is_of(*dst.impl())) {
    return give_value(dst, from.node, from.result);
  }
  const bool same_dtype = from.layout().dtype == dst.dtype();
  const bool by_program = whole && (same_dtype || dst.dtype() != kBool);
  const Recorded node = by_program ? record_cast(std::move(from), dst)
                                   : record_write(std::move(from), dst);
  add_recorded(node);
  give_value(dst, node, 0);
  lock.unlock();
  run_if_too_large("aten::copy_");
}

Tensor copy_from(const Tensor& self, const Tensor& dst, bool non_blocking) {
  if (is_lazy(dst)) {
    copy_to_lazy(dst, self);
    return dst;
  }
  Operand from;
  {
    const std::lock_guard lock(graph_mutex());
    from = operand_of(self);
  }
  compute(ArrayRef<Operand>(&from, 1), Cause::kRead, &copy_entry());
  copy_tensor(dst, from.tensor(), non_blocking);
  return dst;
}

// ---- constants

const OperatorEntry& fill_entry() {
  static const OperatorEntry& e =
      Dispatcher::singleton().find_or_throw("aten::fill_.Scalar").entry();
  return e;
}

program::Program constant() {
  program::Program p;
  p.n_uniforms = 1;
  p.n_registers = 1;
  p.results = &kInput;
  return p;
}

// A value of one number.
Recorded record_fill(const Scalar& value, ScalarType dtype, IntArrayRef sizes,
                     IntArrayRef strides) {
  static const program::Program program = constant();
  auto node = make_intrusive<Node>(
      dtype == kBool ? Node::kCall : Node::kPointwise, &fill_entry());
  node->made.emplace_back(Layout(dtype, sizes, strides));
  node->args.push_back(Value(value));
  if (dtype == kBool) return node;
  node->program = &program;
  node->compute = dtype;
  const program::ComputeType type = program::compute_type_of(dtype);
  node->uniforms.push_back(
      value.is_floating_point()
          ? program::make_uniform(type, false, value.to<double>())
          : program::make_uniform(type, false, value.to<int64_t>()));
  return node;
}

Tensor& fill(Tensor& self, const Scalar& value) {
  if (self.numel() == 0) return self;
  StorageImpl& s = *self.storage();
  if (s.data_acquire() != nullptr && s.is_handed_out()) {
    Tensor number = empty({}, TensorOptions(self.scalar_type()));
    number.fill_(value);
    copy_between(self, number);
    return self;
  }
  {
    const std::lock_guard lock(graph_mutex());
    Recorded node;
    if (is_whole(self)) {
      node =
          record_fill(value, self.scalar_type(), self.sizes(), self.strides());
    } else {
      Operand number;
      number.node = record_fill(value, self.scalar_type(), {}, {});
      add_recorded(number.node);
      node = record_write(std::move(number), self);
    }
    add_recorded(node);
    give_value(self, node, 0);
  }
  run_if_too_large("aten::fill_.Scalar");
  return self;
}

// ---- what is registered

// normal_, uniform_ and the like. random_ keeps nothing of self either.
bool is_draw(const OperatorEntry& op) {
  return op.has_flag(OperatorDef::kRandom) &&
         op.has_flag(OperatorDef::kInplace) && op.has_own_kernel(kCPU) &&
         !op.has_flag(OperatorDef::kGeometry);
}

bool is_recordable(const OperatorEntry& op) {
  constexpr uint16_t kNot = OperatorDef::kAliases | OperatorDef::kInplace |
                            OperatorDef::kOut | OperatorDef::kView |
                            OperatorDef::kGeometry;
  const bool in_place_alone = op.has_flag(OperatorDef::kWrites) &&
                              (op.info() == nullptr || *op.info()->writes == 0);
  return op.has_own_kernel(kCPU) && (op.flags() & kNot) == 0 && !in_place_alone;
}

SY_LIBRARY_IMPL(aten, Lazy, m) {
  m.impl("_copy_from", SY_FN(copy_from));
  m.impl("fill_.Scalar", SY_FN(fill));
  constexpr std::string_view kOwn = "aten::";
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    const std::string_view name = op.name();
    if (!name.starts_with(kOwn) ||
        !(is_recordable(op.entry()) || is_draw(op.entry()))) {
      continue;
    }
    if (name == "aten::_copy_from" || name == "aten::fill_.Scalar") continue;
    const bool random = op.entry().has_flag(OperatorDef::kRandom);
    const bool memory =
        name == "aten::empty.memory_format" || name == "aten::empty_strided";
    const bool draws = is_draw(op.entry());
    const bool writes = op.entry().has_flag(OperatorDef::kWrites);
    m.impl(name.substr(kOwn.size()),
           Kernel::from_boxed(draws    ? &draw
                              : writes ? &record_writing
                              : random ? &at_once
                              : memory ? &record_empty
                                       : &record));
  }
}
SY_LIBRARY_IMPL(_, Lazy, m) { m.fallback(Kernel::from_boxed(&fallback)); }

}  // namespace

}  // namespace sy::lazy
