#include <algorithm>
#include <string_view>

#include "backends/lazy/capture.h"
#include "backends/lazy/graph.h"
#include "backends/lazy/record.h"
#include "c10/dispatch/introspect.h"

// Calls that several processes make together, in one order. On the lazy device
// they run at once: what one process needs first would change the order. A
// captured graph has them in the order of the code, and goes on while a result
// is under way (Run::let_results_be_late): the step that reads it waits, or the
// end of the run.

namespace sy::lazy {

namespace {

// A call that runs after the collectives before it, each time the graph runs.
// It has a result even if the operator has none, for those after it to read.
bool capture_ordered(Capture& capture, const OperatorEntry& op,
                     const Value* args, size_t num_args, Value* results,
                     size_t num_results) {
  const std::lock_guard lock(graph_mutex());
  auto node = make_intrusive<LazyNode>(LazyNode::kCall, &op);
  take_arguments(node.get(), args, num_args);
  if (num_results != 0) {
    if (!add_results(node.get(), op, args, num_args)) return false;
    capture.order(node);
    return keep(node, results, num_results);
  }
  const int64_t none = 0, stride = 1;
  node->made.emplace_back(ValueLayout(kByte, {&none, 1}, {&stride, 1}));
  node->result_of.push_back(LazyNode::ResultPlace{-1, -1});
  capture.order(node);
  add_recorded(node);
  return true;
}

}  // namespace

bool is_collective(OperatorHandle op) {
  if (!std::string_view(op.name()).starts_with("sy_dist::")) return false;
  const std::vector<KernelInfo> kernels = kernels_of(op);
  return std::any_of(kernels.begin(), kernels.end(), [](const KernelInfo& k) {
    return k.key == "CompositeExplicitAutograd";
  });
}

void record_collective(const Kernel&, const OperatorEntry& op, DispatchKeySet,
                       Value* args, size_t num_args, Value* results,
                       size_t num_results) {
  Capture* const capture = Capture::current();
  if (capture == nullptr) {
    {
      const std::lock_guard lock(graph_mutex());
      ++counters().ran_at_once;
    }
    // Their kernels are for every device; they copy elements by operators.
    return OperatorHandle(&op).redispatch_boxed(
        DispatchKeySet::dense(kCPU), args, num_args, results, num_results);
  }
  const bool recorded =
      op.has_flag(OperatorDef::kWrites)
          ? capture_writes(*capture, op, true, args, num_args, results,
                           num_results)
          : capture_ordered(*capture, op, args, num_args, results, num_results);
  if (!recorded) capture->call(op, args, num_args, results, num_results);
}

}  // namespace sy::lazy
