#include "frontend/export/run.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "aten/operators.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "aten/scalar_tensor.h"
#include "aten/tensor.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/export/arguments.h"

namespace sy::exporting {

namespace {

const Tensor& as_tensor(const Value& v) {
  return static_cast<const Tensor&>(v.to_tensor());
}

// Values of one call. A call has few, so only those that it has are made.
class Room {
 public:
  explicit Room(size_t capacity)
      : at_(capacity <= kInline ? reinterpret_cast<Value*>(few_)
                                : std::allocator<Value>().allocate(capacity)),
        capacity_(capacity) {}
  ~Room() {
    std::destroy_n(at_, size_);
    if (capacity_ > kInline) std::allocator<Value>().deallocate(at_, capacity_);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  void push(Value&& v) { std::construct_at(at_ + size_++, std::move(v)); }
  // Of a value that was borrowed.
  void set(size_t i, Value&& v) { std::construct_at(at_ + i, std::move(v)); }
  Value& operator[](size_t i) { return at_[i]; }
  Value* data() { return at_; }
  size_t size() const { return size_; }

 private:
  static constexpr size_t kInline = 16;

  alignas(Value) std::byte few_[kInline * sizeof(Value)];
  Value* const at_;
  const size_t capacity_;
  size_t size_ = 0;
};

// One run of a graph.
class Run {
 public:
  Run(const GraphPlan& graph, Device device, RunObserver* observer)
      : graph_(graph),
        device_(device),
        observer_(observer),
        values_(size_t(graph.slots)) {}

  std::vector<Value> run(std::vector<Value>& inputs) {
    SY_CHECK(inputs.size() == graph_.inputs.size(), Value,
             "a graph: expected {} inputs, got {}", graph_.inputs.size(),
             inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      values_[size_t(graph_.inputs[i])] = std::move(inputs[i]);
    }
    for (const StepPlan& step : graph_.steps) {
      try {
        execute(step);
      } catch (Error& e) {
        e.add_context(
            str("in node '{}'{}", step.name,
                step.module.empty() ? "" : " of '" + step.module + "'"));
        throw;
      }
      if (SY_UNLIKELY(observer_ != nullptr)) observer_->after_step(values_);
      for (const int32_t slot : step.ends) reset(values_[size_t(slot)]);
    }
    std::vector<Value> outputs;
    outputs.reserve(graph_.outputs.size());
    for (const Source& s : graph_.outputs) outputs.push_back(value(s));
    return outputs;
  }

 private:
  // Without a reference count, for what the slot outlives.
  Value borrowed(int32_t slot) const {
    return Value::borrowed(values_[size_t(slot)]);
  }

  static void reset(Value& v) {
    std::destroy_at(&v);
    std::construct_at(&v);
  }

  Value value(const Source& s) const {
    return s.slot == Source::kConstant ? s.constant : values_[size_t(s.slot)];
  }

  void execute(const StepPlan& step) {
    switch (step.kind) {
      case StepPlan::Kind::Operator:
      case StepPlan::Kind::Function: call(step); break;
      case StepPlan::Kind::Branch: branch(step); break;
      case StepPlan::Kind::Loop: loop(step); break;
      case StepPlan::Kind::Map:
      case StepPlan::Kind::Scan: scan(step); break;
      case StepPlan::Kind::Inline: inline_graph(step); break;
    }
  }

  void call(const StepPlan& step) {
    Room args(step.arguments.size());
    for (const Value& constant : step.arguments) {
      args.push(Value::borrowed(constant));
    }
    for (const StepPlan::Slot& s : step.slots) {
      const Value& v = values_[size_t(s.slot)];
      if (SY_UNLIKELY(v.is_number()) && wants_tensor(step, s)) {
        args.set(s.argument,
                 Value(TensorBase(wrapped_scalar_tensor(v.to_scalar()))));
      } else {
        args.set(s.argument, Value::borrowed(v));
      }
    }
    for (const StepPlan::List& l : step.lists) {
      args.set(l.argument, list(l.list));
    }
    for (const uint16_t at : step.devices) args.set(at, Value(device_));
    if (step.kind == StepPlan::Kind::Function) {
      Value result = step.function(args.data(), args.size());
      if (!step.results.empty()) store(step.results[0], std::move(result));
      return;
    }
    const size_t count = step.results.size();
    if (SY_LIKELY(count == 1 && !step.results[0].is_list)) {
      Value unused;
      const int32_t slot = step.results[0].slot;
      Value* const result = slot >= 0 ? &values_[size_t(slot)] : &unused;
      const bool in_place = step.in_place != nullptr && may_write(args);
      OperatorHandle(in_place ? step.in_place : step.op)
          .call_boxed(args.data(), args.size(), result, 1);
      return;
    }
    Room results(count);
    for (size_t i = 0; i < count; ++i) results.push(Value());
    OperatorHandle(step.op).call_boxed(args.data(), args.size(), results.data(),
                                       count);
    for (size_t i = 0; i < count; ++i) {
      store(step.results[i], std::move(results[i]));
    }
  }

  // Whether the result of an operator of elements may lie where its first
  // argument does, which ends: nobody else has that memory, no derivative needs
  // it, and the result has the same dtype, sizes and strides.
  static bool may_write(Room& args) {
    if (GradMode::is_enabled() || thread_state.capture != nullptr ||
        !args[0].is_tensor()) {
      return false;
    }
    const TensorBase& self = args[0].to_tensor();
    if (self.use_count() != 1 || self.storage().use_count() != 1 ||
        self.raw_data() == nullptr || self.dim() == 0 ||
        !is_floating_type(self.scalar_type()) ||
        !self.impl()->is_non_overlapping_and_dense()) {
      return false;
    }
    for (size_t i = 1; i < args.size(); ++i) {
      if (!args[i].is_tensor()) continue;
      const TensorBase& t = args[i].to_tensor();
      if (!t.defined() || t.dim() == 0) continue;
      const bool fits = t.sizes() == self.sizes()
                            ? t.strides() == self.strides()
                            : self.is_contiguous() && is_expandable(t, self);
      if (t.scalar_type() != self.scalar_type() || !fits) return false;
    }
    return true;
  }

  static bool is_expandable(const TensorBase& t, const TensorBase& to) {
    const int64_t more = to.dim() - t.dim();
    for (int64_t d = 0; more >= 0 && d < t.dim(); ++d) {
      if (t.size(d) != 1 && t.size(d) != to.size(d + more)) return false;
    }
    return more >= 0;
  }

  static bool wants_tensor(const StepPlan& step, const StepPlan::Slot& s) {
    return step.op != nullptr &&
           ((step.op->tensor_args() >> s.argument) & 1) != 0;
  }

  Value list(const ListPlan& plan) const {
    std::vector<Value> items;
    items.reserve(plan.items.size());
    for (const Source& s : plan.items) {
      items.push_back(s.slot == Source::kConstant ? s.constant
                                                  : borrowed(s.slot));
    }
    return make_list(plan.kind, items.data(), items.size());
  }

  void store(const ResultPlan& plan, Value value) {
    if (!plan.is_list) {
      if (plan.slot >= 0) values_[size_t(plan.slot)] = std::move(value);
      return;
    }
    const auto items = value.to_tensor_list();
    SY_CHECK(items.size() == plan.items.size(), Value,
             "expected a list of {} tensors, got {}", plan.items.size(),
             items.size());
    for (size_t i = 0; i < items.size(); ++i) {
      if (plan.items[i] >= 0) values_[size_t(plan.items[i])] = Value(items[i]);
    }
  }

  // The results of a step with graphs are values of one list, or of several.
  void store_all(const StepPlan& step, std::vector<Value> values) {
    size_t at = 0;
    const auto next = [&](int32_t slot) {
      SY_CHECK(at < values.size(), Value,
               "expected more than {} results of a graph", values.size());
      if (slot >= 0) values_[size_t(slot)] = std::move(values[at]);
      ++at;
    };
    for (const ResultPlan& r : step.results) {
      if (r.is_list) {
        for (const int32_t slot : r.items) next(slot);
      } else {
        next(r.slot);
      }
    }
  }

  std::vector<Value> operands(const StepPlan& step, size_t from) const {
    std::vector<Value> out;
    out.reserve(step.operands.size() - from);
    for (size_t i = from; i < step.operands.size(); ++i) {
      out.push_back(value(step.operands[i]));
    }
    return out;
  }

  std::vector<Value> run(const GraphPlan& graph,
                         std::vector<Value> inputs) const {
    if (observer_ != nullptr) observer_->enter_graph(values_);
    std::vector<Value> results =
        run_graph(graph, std::move(inputs), device_, observer_);
    if (observer_ != nullptr) observer_->leave_graph();
    return results;
  }

  static bool truth(const Value& v) {
    return v.is_tensor() ? as_tensor(v).item<bool>() : v.to_bool();
  }

  void branch(const StepPlan& step) {
    const GraphPlan& taken =
        step.graphs[truth(value(step.operands[0])) ? 0 : 1];
    store_all(step, run(taken, operands(step, 1)));
  }

  void loop(const StepPlan& step) {
    std::vector<Value> all = operands(step, 0);
    while (truth(run(step.graphs[0], all).at(0))) {
      std::vector<Value> carried = run(step.graphs[1], all);
      SY_CHECK(carried.size() == step.changing, Value,
               "expected {} values of the loop's body, got {}", step.changing,
               carried.size());
      std::move(carried.begin(), carried.end(), all.begin());
    }
    all.resize(step.changing);
    store_all(step, std::move(all));
  }

  // A map is a scan that carries nothing.
  void scan(const StepPlan& step) {
    std::vector<Value> all = operands(step, 0);
    const size_t begin = step.carried, end = begin + step.changing;
    SY_CHECK(end > begin, Value, "expected a tensor to take apart");
    std::vector<std::vector<Tensor>> parts;
    for (size_t i = begin; i < end; ++i) {
      parts.push_back(sy::unbind(as_tensor(all[i]), 0));
      SY_CHECK(parts.back().size() == parts[0].size(), Value,
               "expected tensors of {} parts, got {}", parts[0].size(),
               parts.back().size());
    }
    SY_CHECK(!parts[0].empty(), Value, "expected a tensor with parts");
    std::vector<std::vector<Tensor>> made;
    for (size_t k = 0; k < parts[0].size(); ++k) {
      for (size_t i = begin; i < end; ++i) all[i] = parts[i - begin][k];
      std::vector<Value> results = run(step.graphs[0], all);
      SY_CHECK(results.size() >= step.carried, Value,
               "expected {} values of the body, got {}", step.carried,
               results.size());
      std::move(results.begin(), results.begin() + long(step.carried),
                all.begin());
      made.resize(results.size() - step.carried);
      for (size_t i = 0; i < made.size(); ++i) {
        made[i].push_back(as_tensor(results[i + step.carried]));
      }
    }
    all.resize(step.carried);
    for (const auto& each : made) all.emplace_back(sy::stack(each, 0));
    store_all(step, std::move(all));
  }

  void inline_graph(const StepPlan& step) {
    const AutoGradMode mode(step.gradients);
    store_all(step, run(step.graphs[0], operands(step, 0)));
  }

  const GraphPlan& graph_;
  const Device device_;
  RunObserver* const observer_;
  std::vector<Value> values_;
};

}  // namespace

std::vector<Value> run_graph(const GraphPlan& graph, std::vector<Value> inputs,
                             Device device, RunObserver* observer) {
  return Run(graph, device, observer).run(inputs);
}

}  // namespace sy::exporting
