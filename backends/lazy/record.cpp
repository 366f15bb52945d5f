#include "backends/lazy/record.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "aten/backend/cpu_fallback.h"
#include "aten/backend/node.h"
#include "aten/backend/write_plan.h"
#include "backends/lazy/capture.h"
#include "backends/lazy/constants.h"
#include "backends/lazy/graph.h"
#include "c10/dispatch/thread_state.h"
#include "c10/process/error.h"
#include "c10/schema/function_schema.h"

// An operator that gives fresh results is recorded; one that writes comes here
// as that and a copy to what it writes (copies.cpp).

namespace sy::lazy {

void take_arguments(LazyNode* node, const Value* args, size_t n) {
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
        LazyNode::List list{i, v.tag() == Value::Tag::OptionalTensorList, {}};
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

namespace {

using Recorded = intrusive_ptr<LazyNode>;

// ---- pointwise operators and reductions, by their programs

// Whether the operands of the call are those of the program, in order.
bool has_inputs(const LazyNode& node, const NodeDesc& desc) {
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

void make_pointwise(LazyNode* node, const PointwiseNode& call) {
  const PointwiseOp& p = call.op();
  const PointwiseArgs args = call.args();
  PointwisePlan plan;
  plan_pointwise(p, args, &plan);
  Dims strides;
  result_strides(p, args, plan.sizes, &strides);
  node->kind = LazyNode::kPointwise;
  const ElementProgram& program = select_program(p, args);
  node->program = &program.body;
  node->compute = plan.compute;
  node->uniforms.resize(program.body.n_uniforms);
  eval_call_uniforms(p, program, args, plan.compute, node->uniforms.data());
  for (int i = 0; i < program.body.n_results; ++i) {
    const bool truth = program.body.results[i].is_bool;
    node->made.emplace_back(
        ValueLayout(truth ? kBool : plan.compute, plan.sizes, strides));
  }
}

void add_uniforms(const ElementProgram& p, const ReduceArgs& args,
                  const ReducePlan& plan, LazyNode* node) {
  const size_t first = node->uniforms.size();
  node->uniforms.resize(first + p.body.n_uniforms);
  eval_uniforms(p, args.scalars, plan.count,
                program::compute_type_of(plan.compute),
                node->uniforms.data() + first);
}

void make_reduce(LazyNode* node, const ReduceNode& call) {
  const ReduceOp& p = call.op();
  const ReduceArgs& args = call.args();
  ReducePlan plan;
  plan_reduce(p, args, &plan);
  node->kind = LazyNode::kReduce;
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
    node->made.emplace_back(ValueLayout(plan.results[i], plan.sizes, strides));
  }
}

// A dtype argument narrower than what is accumulated rounds the elements first.
bool rounds_first(const ReduceArgs& args) {
  return args.dtype && *args.dtype != args.self->scalar_type() &&
         (*args.dtype == kHalf || *args.dtype == kBFloat16 ||
          is_integral_type(*args.dtype, true));
}

// False: the operator has no program, or the call does not fit it.
bool make_by_program(LazyNode* node, const OperatorEntry& op,
                     const Value* args) {
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

// Calls f(tensor, its place) for each tensor among the results. False if one of
// them is a list without elements, whose type is lost, or undefined.
template <class F>
bool for_each_result(const std::vector<Value>& results, const F& f) {
  for (size_t i = 0; i < results.size(); ++i) {
    const Value& v = results[i];
    const auto at = static_cast<int16_t>(i);
    if (v.is_none()) continue;
    if (v.is_tensor()) {
      f(v.to_tensor(), LazyNode::ResultPlace{at, -1});
      continue;
    }
    if (v.tag() != Value::Tag::TensorList) return false;
    int16_t k = 0;
    for (const TensorBase& t : v.to_tensor_list()) {
      if (!t.defined() || k == INT16_MAX) return false;
      f(t, LazyNode::ResultPlace{at, k++});
    }
    if (k == 0) return false;
  }
  return true;
}

}  // namespace

bool infer(const OperatorEntry& op, const Value* args, size_t n,
           std::vector<Value>* shapes) {
  std::optional<PlainModes> plain;
  if (Capture::current() != nullptr) plain.emplace();
  try {
    *shapes = infer_results(OperatorHandle(&op), args, n);
  } catch (const NotImplementedError&) {
    return false;
  }
  std::vector<const TensorBase*> seen;
  bool own = true;
  const bool known =
      for_each_result(*shapes, [&](const TensorBase& t, LazyNode::ResultPlace) {
        own = own && fills_storage(t);
        for (const TensorBase* other : seen) {
          own = own && !other->is_alias_of(t);
        }
        seen.push_back(&t);
      });
  return known && own;
}

bool add_results(LazyNode* node, const OperatorEntry& op, const Value* args,
                 size_t n) {
  std::vector<Value> shapes;
  if (!infer(op, args, n, &shapes)) return false;
  for_each_result(shapes, [&](const TensorBase& t, LazyNode::ResultPlace at) {
    node->made.emplace_back(
        ValueLayout(t.scalar_type(), t.sizes(), t.strides()));
    node->result_of.push_back(at);
  });
  return !node->made.empty();
}

namespace {

// nullptr: the call has to run now.
Recorded make_node(const OperatorEntry& op, const Value* args, size_t n) {
  auto node = make_intrusive<LazyNode>(LazyNode::kCall, &op);
  take_arguments(node.get(), args, n);
  if (make_by_program(node.get(), op, args)) {
    const Recorded number = folded(*node);
    return number != nullptr ? number : node;
  }
  return add_results(node.get(), op, args, n) ? node : nullptr;
}

}  // namespace

bool keep(const intrusive_ptr<LazyNode>& node, Value* results,
          size_t num_results, size_t own) {
  if (node == nullptr) return false;
  add_recorded(node);
  std::fill_n(results, num_results, Value());
  own = std::min(own, node->made.size());
  std::vector<TensorBase> list;
  for (size_t i = 0; i < own; ++i) {
    const TensorBase t = tensor_of(node, static_cast<uint16_t>(i));
    const LazyNode::ResultPlace at =
        node->result_of.empty()
            ? LazyNode::ResultPlace{static_cast<int16_t>(i), -1}
            : node->result_of[i];
    if (at.element < 0) {
      results[at.result] = Value(t);
      continue;
    }
    list.push_back(t);
    if (i + 1 < own && node->result_of[i + 1].result == at.result) continue;
    results[at.result] = Value::tensor_list(list.data(), list.size());
    list.clear();
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

void record_empty(const Kernel&, const OperatorEntry& op, DispatchKeySet,
                  Value* args, size_t num_args, Value* results,
                  size_t num_results) {
  {
    const std::lock_guard lock(graph_mutex());
    auto node = make_intrusive<LazyNode>(LazyNode::kEmpty, &op);
    if (!add_results(node.get(), op, args, num_args)) node.reset();
    if (keep(node, results, num_results)) return;
  }
  run_at_once(op, args, num_args, results, num_results);
}

// ---- operators that write self

void record_in_place(const Kernel&, const OperatorEntry& op, DispatchKeySet,
                     Value* args, size_t, Value* results, size_t) {
  const WritePlan& plan = write_plan(op);
  const std::vector<Value> pure = functional_arguments(plan, args);
  const TensorBase& self = args[plan.written[0]].to_tensor();
  Value fresh;  // the value to copy to self, unless that is done
  bool done = false, kept = false;
  {
    const std::lock_guard lock(graph_mutex());
    const Recorded node = make_node(*plan.functional, pure.data(), pure.size());
    const bool fits = node != nullptr && node->kind == LazyNode::kPointwise &&
                      node->made[0].layout.dtype == self.dtype() &&
                      self.numel() != 0 &&
                      self.impl()->is_non_overlapping_and_dense();
    if (fits) end_piece_to_see(self);
    if (fits && is_whole(self) && !is_exposed(*self.storage())) {
      node->made.clear();
      node->made.emplace_back(
          ValueLayout(self.dtype(), self.sizes(), self.strides()));
      add_recorded(node);
      give_value(self, node, 0);
      done = true;
    } else {
      kept = keep(node, &fresh, 1);
    }
  }
  if (!done) {
    if (!kept) {
      run_at_once(*plan.functional, pure.data(), pure.size(), &fresh, 1);
    }
    copy_to_lazy(self, fresh.to_tensor());
  }
  results[0] = args[plan.written[0]];
  run_if_too_large(op.name().data());
}

// ---- operators that write arguments beside what they return

bool find_written(LazyNode* node, const OperatorEntry& op, const Value* args) {
  if (!node->lists.empty()) return false;
  for (const int8_t w : write_plan(op).written) {
    const Value& v = args[w];
    if (v.is_none()) continue;
    const TensorBase& t = v.to_tensor();
    const auto below = node->tensors & ((uint64_t{1} << w) - 1);
    const auto at = static_cast<uint8_t>(std::popcount(below));
    const Operand& o = node->operands[at];
    if (!is_recorded(t) || o.part) return false;
    end_piece_to_see(t);
    if (!is_whole(t) || is_exposed(*t.storage())) return false;
    for (const Operand& other : node->operands) {
      if (&other != &o && other.node == o.node && other.result == o.result) {
        return false;
      }
    }
    node->written.push_back(at);
  }
  return true;
}

namespace {

bool keep_writing(const OperatorEntry& op, const Value* args, size_t n,
                  Value* results, size_t num_results) {
  const std::lock_guard lock(graph_mutex());
  const auto node = make_intrusive<LazyNode>(LazyNode::kCall, &op);
  take_arguments(node.get(), args, n);
  if (!find_written(node.get(), op, args) ||
      !add_results(node.get(), op, args, n)) {
    return false;
  }
  Capture* const capture = Capture::current();
  if (capture != nullptr && op.has_flag(OperatorDef::kRandom)) {
    capture->order(node);
  }
  const size_t own = node->made.size();
  for (const uint8_t w : node->written) {
    node->made.emplace_back(ValueLayout(node->operands[w].layout()));
  }
  keep(node, results, num_results, own);
  size_t k = own;
  for (const int8_t w : write_plan(op).written) {
    if (args[w].is_none()) continue;
    give_value(args[w].to_tensor(), node, static_cast<uint16_t>(k++));
  }
  return true;
}

}  // namespace

void record_writing(const Kernel& kernel, const OperatorEntry& op,
                    DispatchKeySet keys, Value* args, size_t num_args,
                    Value* results, size_t num_results) {
  if (keep_writing(op, args, num_args, results, num_results)) {
    return run_if_too_large(op.name().data());
  }
  run_writing_at_once(kernel, op, keys, args, num_args, results, num_results);
}

}  // namespace sy::lazy
