#include <algorithm>

#include "aten/backend/write_plan.h"
#include "backends/lazy/capture.h"
#include "backends/lazy/record.h"
#include "backends/lazy/run.h"

// Calls that the lazy device makes at once, and a capture records.

namespace sy::lazy {

namespace {

// A call of numbers alone, as arange: what it writes is a constant.
bool capture_constant(const Capture& capture, const OperatorEntry& op,
                      const Value* args, size_t num_args, Value* results,
                      size_t num_results) {
  if (op.has_flag(OperatorDef::kRandom)) return false;
  const std::vector<int8_t>& written = write_plan(op).written;
  for (size_t i = 0; i < num_args; ++i) {
    const Value::Tag tag = args[i].tag();
    if (tag == Value::Tag::TensorList ||
        tag == Value::Tag::OptionalTensorList) {
      return false;
    }
    if (!args[i].is_tensor()) continue;
    const bool fits =
        std::find(written.begin(), written.end(), int8_t(i)) != written.end() &&
        capture.is_untouched(args[i].to_tensor());
    if (!fits) return false;
  }
  std::vector<Value> own(args, args + num_args), out;
  call_inner(op, own, &out);
  std::copy_n(out.begin(), num_results, results);
  return true;
}

// Whether what a call returns is as large as the argument that it writes.
bool keeps_sizes(const WritePlan& plan, const Value* args,
                 const std::vector<Value>& shapes) {
  for (size_t i = 0; i < shapes.size(); ++i) {
    const int8_t from = plan.returned[i];
    if (from < 0 || !shapes[i].is_tensor() || !args[from].is_tensor()) {
      return false;
    }
    const TensorBase &now = args[from].to_tensor(),
                     &then = shapes[i].to_tensor();
    if (then.sizes() != now.sizes() || then.strides() != now.strides()) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool capture_writes(Capture& capture, const OperatorEntry& op, bool reads,
                    const Value* args, size_t num_args, Value* results,
                    size_t num_results) {
  const WritePlan& plan = write_plan(op);
  if (plan.kind == WritePlan::kGeometry || plan.written.empty()) return false;
  const std::lock_guard lock(graph_mutex());
  if (!op.has_flag(OperatorDef::kInplace)) {  // out= may change its sizes
    std::vector<Value> shapes;
    if (!infer(op, args, num_args, &shapes) ||
        !keeps_sizes(plan, args, shapes)) {
      return capture_constant(capture, op, args, num_args, results,
                              num_results);
    }
  }
  for (size_t i = 0; i < num_results; ++i) {
    const int8_t from = plan.returned[i];
    if (from < 0 || !args[from].is_tensor()) return false;
  }
  std::vector<Value> own(args, args + num_args);
  for (const int8_t w : plan.written) {
    if (!args[w].is_tensor()) return false;
    const TensorBase& t = args[w].to_tensor();
    if (!capture.takes(t) || t.numel() == 0 ||
        !t.impl()->is_non_overlapping_and_dense()) {
      return false;
    }
    capture.end_piece_to_see(t);
    if (!capture.is_whole(t)) return false;
    if (reads) continue;
    auto empty = make_intrusive<LazyNode>(LazyNode::kEmpty, nullptr);
    empty->made.emplace_back(ValueLayout(t.dtype(), t.sizes(), t.strides()));
    add_recorded(empty);
    own[size_t(w)] = Value(TensorBase(tensor_of(empty, 0)));
  }
  auto node = make_intrusive<LazyNode>(LazyNode::kCall, &op);
  take_arguments(node.get(), own.data(), num_args);
  if (!find_written(node.get(), op, own.data())) return false;
  for (const uint8_t w : node->written) {
    node->made.emplace_back(ValueLayout(node->operands[w].layout()));
  }
  if (op.has_flag(OperatorDef::kRandom) || is_collective(OperatorHandle(&op))) {
    capture.order(node);
  }
  add_recorded(node);
  uint16_t k = 0;
  for (const int8_t w : plan.written) {
    give_value(args[w].to_tensor(), node, k++);
  }
  for (size_t i = 0; i < num_results; ++i) {
    results[i] = args[plan.returned[i]];
  }
  return true;
}

bool capture_random(Capture& capture, const OperatorEntry& op,
                    const Value* args, size_t num_args, Value* results,
                    size_t num_results) {
  const std::lock_guard lock(graph_mutex());
  auto node = make_intrusive<LazyNode>(LazyNode::kCall, &op);
  take_arguments(node.get(), args, num_args);
  if (!add_results(node.get(), op, args, num_args)) return false;
  capture.order(node);
  return keep(node, results, num_results);
}

}  // namespace sy::lazy
