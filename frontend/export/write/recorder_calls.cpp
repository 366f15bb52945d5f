#include <algorithm>
#include <limits>

#include "aten/backend/write_plan.h"
#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "c10/schema/function_schema.h"
#include "frontend/export/write/operators.h"
#include "frontend/export/write/recorder.h"

namespace sy::exporting {

namespace {

// All elements of a storage, as a row.
Tensor row_of(const TensorBase& t) {
  const auto n =
      static_cast<int64_t>(t.storage()->nbytes() / t.impl()->itemsize());
  return Tensor(t.impl()->alias({n}, {1}, 0));
}

// PyTorch's _scaled_dot_product_attention_math adds its mask, a bool one too:
// the operator that calls it makes another one of that before.
constexpr size_t kMask = 3;

bool adds_mask(const OperatorEntry& op, const Value* args) {
  return op.name() == "aten::_scaled_dot_product_attention_math" &&
         args[kMask].is_tensor() &&
         args[kMask].to_tensor().scalar_type() == kBool;
}

// 0 where the mask is true, -inf elsewhere. Its calls are recorded.
Tensor added_mask(const Value* args) {
  const auto& mask = static_cast<const Tensor&>(args[kMask].to_tensor());
  const ScalarType dtype = args[0].to_tensor().scalar_type();
  return zeros_like(mask, TensorOptions().dtype(dtype))
      .masked_fill(mask.logical_not(),
                   -std::numeric_limits<double>::infinity());
}

}  // namespace

void Recorder::run(const OperatorEntry& op, DispatchKeySet keys, Value* args,
                   size_t num_args, Value* results, size_t num_results) const {
  const NotRecorded quiet;
  OperatorHandle(&op).redispatch_boxed(keys, args, num_args, results,
                                       num_results);
}

// A call that has no part in the graph: it gives facts that are fixed, or
// computes with constants what the host wants to know.
bool Recorder::is_beside(const OperatorEntry& op, const Value* args, size_t n) {
  bool gives_tensors = op.has_flag(OperatorDef::kWrites);
  for (const Return& r : op.schema().returns()) {
    gives_tensors = gives_tensors || r.type.is_tensor_like();
  }
  const DataUse use = data_use(op, args);
  if (use == DataUse::None) return !gives_tensors;
  bool known = false;
  for (size_t i = 0; i < n; ++i) {
    for_each_tensor(args[i], [&](const TensorBase& t) {
      known = known || (is_known(t) && !t.impl()->is_wrapped_number());
    });
  }
  if (!known) return true;
  problem(op.name(), use == DataUse::Number
                         ? "reads elements of a value that is computed: what "
                           "follows would be fixed"
                         : "gives sizes that depend on elements");
  return use == DataUse::Number;
}

void Recorder::save_written(const OperatorEntry& op, const Value* args) {
  for (const int8_t i : write_plan(op).written) {
    for_each_tensor(args[i], [&](const TensorBase& t) {
      const StorageImpl* const s = t.storage().get();
      const auto memory = memory_.find(s);
      const bool held = memory != memory_.end() && memory->second.is_held;
      if (memory == memory_.end() && fresh_.contains(s)) return;
      if (memory != memory_.end() && !held) {
        const TracedConstant* outer = nullptr;
        for (const TracedConstant& c : trace_.constants) {
          if (!c.fresh && c.tensor.storage().get() == s) outer = &c;
        }
        if (outer == nullptr) return;
      }
      if (!held) {
        problem(op.name(),
                "writes a tensor that is neither a parameter, nor a buffer, "
                "nor an input");
      }
      if (saved_.contains(s)) return;
      const NotRecorded quiet;
      const NoGradGuard no_grad;
      const Tensor row = row_of(t);
      saved_.emplace(s, Saved{row, row.clone()});
    });
  }
}

void Recorder::call(const OperatorEntry& op, DispatchKeySet keys, Value* args,
                    size_t num_args, Value* results, size_t num_results) {
  if (is_beside(op, args, num_args)) {
    run(op, keys, args, num_args, results, num_results);
    for (size_t i = 0; i < num_results; ++i) {
      for_each_tensor(results[i], [&](const TensorBase& t) {
        on_new_memory(t.storage(), false);
      });
    }
    return;
  }
  if (python_has(op.name(), options_.namespaces)) {
    std::vector<Value> copies;
    if (adds_mask(op, args)) {
      copies.assign(args, args + num_args);
      copies[kMask] = Value(added_mask(args));
      args = copies.data();
    }
    record_call(op, keys, args, num_args, results, num_results);
    return;
  }
  Device device(kCPU);
  for (size_t i = num_args; i-- > 0;) {
    for_each_tensor(args[i], [&](const TensorBase& t) { device = t.device(); });
  }
  if (is_composed(op, device)) {
    // What it is made of is recorded.
    OperatorHandle(&op).redispatch_boxed(keys, args, num_args, results,
                                         num_results);
    return;
  }
  problem(op.name(), "is no operator of PyTorch, nor made of such");
  record_call(op, keys, args, num_args, results, num_results);
}

void Recorder::record_call(const OperatorEntry& op, DispatchKeySet keys,
                           Value* args, size_t num_args, Value* results,
                           size_t num_results) {
  save_written(op, args);
  if (op.has_flag(OperatorDef::kOut)) {
    run(op, keys, args, num_args, results, num_results);
    record_functional(op, args, results, num_results);
    return;
  }
  TracedNode node;
  node.op = &op;
  for (size_t i = 0; i < num_args; ++i) {
    if (args[i].tag() == Value::Tag::Generator) {
      problem(op.name(), "draws from a generator of its own");
      node.arguments.emplace_back();
      continue;
    }
    node.arguments.push_back(argument(args[i]));
  }
  node.stack = stack();
  run(op, keys, args, num_args, results, num_results);
  if (write_plan(op).kind == WritePlan::kGeometry &&
      op.schema().name().name.view() != "detach_" &&
      !op.has_flag(OperatorDef::kView)) {
    problem(op.name(), "changes sizes or memory of a tensor in place");
  }
  for (size_t i = 0; i < num_results; ++i) {
    node.results.push_back(result(results[i]));
  }
  if (op.name().starts_with("aten::empty") && !node.results.empty()) {
    for (const int32_t v : node.results[0].values) empty_[size_t(v)] = true;
  }
  trace_.nodes.push_back(std::move(node));
}

// Whether the call gave `t`, which was that value, other sizes.
bool Recorder::was_resized(const OperatorEntry& op, int32_t value,
                           const TensorBase& t) {
  const std::vector<int64_t>& sizes = trace_.values[size_t(value)].sizes;
  if (IntArrayRef(sizes) == t.sizes()) return false;
  const Memory& memory = memory_[t.storage().get()];
  const bool had_elements = std::count(sizes.begin(), sizes.end(), 0) == 0;
  if (memory.is_held || memory.is_input || had_elements) {
    problem(op.name(), "changes the sizes of a tensor");
  }
  return true;
}

// A form with out= is the operator without, and copies.
void Recorder::record_functional(const OperatorEntry& op, Value* args,
                                 Value* results, size_t num_results) {
  const WritePlan& plan = write_plan(op);
  if (plan.kind != WritePlan::kFunctional) {
    problem(op.name(), "writes its result, and there is no form that does not");
    return;
  }
  TracedNode node;
  node.op = plan.functional;
  for (const Value& v : functional_arguments(plan, args)) {
    node.arguments.push_back(argument(v));
  }
  node.stack = stack();
  std::vector<TracedNode> after;
  for (const int8_t to : plan.stored) {
    const TensorBase& t =
        to >= 0 ? args[to].to_tensor() : results[0].to_tensor();
    const int32_t made = new_value(t);
    node.results.push_back({false, {made}});
    if (to < 0) continue;
    if (!is_known(t)) {
      know(t, made);
      continue;
    }
    const int32_t target = find(t);
    if (was_resized(op, target, t)) {
      know(t, made);
      continue;
    }
    TracedNode copy;
    copy.op = &Dispatcher::singleton().find_or_throw("aten::copy_").entry();
    copy.arguments = {{TracedArgument::Kind::Tensor, {}, {target}},
                      {TracedArgument::Kind::Tensor, {}, {made}},
                      {TracedArgument::Kind::Constant, Value(false), {}}};
    copy.results.push_back({false, {new_value(t)}});
    copy.stack = node.stack;
    know(t, copy.results[0].values[0]);
    after.push_back(std::move(copy));
  }
  trace_.nodes.push_back(std::move(node));
  for (TracedNode& n : after) trace_.nodes.push_back(std::move(n));
  (void)num_results;
}

}  // namespace sy::exporting
