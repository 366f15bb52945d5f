#include "aten/backend/cpu_fallback.h"
#include "backends/lazy/capture.h"
#include "backends/lazy/graph.h"
#include "backends/lazy/inner_stream.h"
#include "backends/lazy/record.h"
#include "backends/lazy/run.h"
#include "c10/dispatch/thread_state.h"

// Calls that cannot be recorded.

namespace sy::lazy {

namespace {

Value to_lazy(const Value& v) {
  const auto lift = [](const TensorBase& t) -> TensorBase {
    if (!t.defined()) return t;
    Tensor inner{TensorBase(t)};
    if (!fills_storage(t)) {
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

}  // namespace

void run_at_once(const OperatorEntry& op, const Value* args, size_t n,
                 Value* results, size_t num_results) {
  if (Capture* const capture = Capture::current()) {
    std::vector<Value> own(args, args + n);
    return capture->call(op, own.data(), n, results, num_results);
  }
  const auto call = make_intrusive<LazyNode>(LazyNode::kCall, &op);
  {
    const std::lock_guard lock(graph_mutex());
    ++counters().ran_at_once;
    take_arguments(call.get(), args, n);
  }
  compute({call->operands.data(), call->operands.size()}, Cause::kCall, &op);
  const InnerStream stream;
  std::vector<Value> inner = arguments_of(*call), out;
  call_inner(op, inner, &out);
  inner.clear();
  for (size_t i = 0; i < num_results; ++i) results[i] = to_lazy(out[i]);
}

void draw(const Kernel& kernel, const OperatorEntry& op, DispatchKeySet keys,
          Value* args, size_t num_args, Value* results, size_t num_results) {
  if (Capture* const capture = Capture::current()) {
    if (!capture_writes(*capture, op, false, args, num_args, results,
                        num_results)) {
      capture->call(op, args, num_args, results, num_results);
    }
    return;
  }
  const TensorBase& self = args[0].to_tensor();
  bool alone = is_lazy(self) && is_whole(self) && num_results == 1 &&
               !is_exposed(*self.storage());
  for (size_t i = 1; i < num_args; ++i) alone = alone && !args[i].is_tensor();
  if (!alone || self.numel() == 0) {
    return cpu_fallback(kernel, op, keys, args, num_args, results, num_results);
  }
  const ValueLayout layout(self.dtype(), self.sizes(), self.strides());
  const InnerStream stream;
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
  Capture* const capture = Capture::current();
  if (capture != nullptr &&
      capture_random(*capture, op, args, num_args, results, num_results)) {
    return;
  }
  run_at_once(op, args, num_args, results, num_results);
}

void fallback(const Kernel& kernel, const OperatorEntry& op,
              DispatchKeySet keys, Value* args, size_t num_args, Value* results,
              size_t num_results) {
  if (op.has_flag(OperatorDef::kWrites) || op.has_flag(OperatorDef::kAliases)) {
    return run_writing_at_once(kernel, op, keys, args, num_args, results,
                               num_results);
  }
  run_at_once(op, args, num_args, results, num_results);
}

void run_writing_at_once(const Kernel& kernel, const OperatorEntry& op,
                         DispatchKeySet keys, Value* args, size_t num_args,
                         Value* results, size_t num_results) {
  if (Capture* const capture = Capture::current()) {
    const bool reads = op.has_flag(OperatorDef::kInplace);
    if (!capture_writes(*capture, op, reads, args, num_args, results,
                        num_results)) {
      capture->call(op, args, num_args, results, num_results);
    }
    return;
  }
  {
    const std::lock_guard lock(graph_mutex());
    ++counters().ran_at_once;
  }
  cpu_fallback(kernel, op, keys, args, num_args, results, num_results);
}

}  // namespace sy::lazy
