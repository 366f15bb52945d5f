#include "frontend/export/write/recorder.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "aten/backend/write_plan.h"
#include "aten/operators.h"
#include "c10/dispatch/capture.h"
#include "c10/dispatch/thread_state.h"
#include "c10/plugin/library.h"
#include "c10/schema/function_schema.h"
#include "frontend/export/write/operators.h"
#include "frontend/nn/module_hooks.h"

namespace sy::exporting {

namespace {

constexpr DispatchKey kKey = DispatchKey::TransformFront;

// Calls in its scope are neither recorded nor told.
class NotRecorded {
 public:
  NotRecorded() noexcept
      : excluded_(kKey), capture_(std::exchange(thread_state.capture, {})) {}
  ~NotRecorded() { thread_state.capture = capture_; }
  NotRecorded(const NotRecorded&) = delete;
  NotRecorded& operator=(const NotRecorded&) = delete;

 private:
  const ExcludeDispatchKeyGuard excluded_;
  CaptureHooks* const capture_;
};

// All elements of a storage, as a row.
Tensor row_of(const TensorBase& t) {
  const auto n =
      static_cast<int64_t>(t.storage()->nbytes() / t.impl()->itemsize());
  return Tensor(t.impl()->alias({n}, {1}, 0));
}

bool grad_off() {
  return !GradMode::is_enabled() || InferenceMode::is_enabled();
}

class Recorder final : public CaptureHooks {
 public:
  Recorder(const nn::Module& root, const RecordOptions& options);
  ~Recorder() override;

  void hold(const Tensor& t);
  void add_input(const Tensor& t);
  // The call of the dispatcher, from the kernel of kKey.
  void call(const OperatorEntry& op, DispatchKeySet keys, Value* args,
            size_t num_args, Value* results, size_t num_results);
  Trace finish(const ArchiveValue& result);

  void enter(const nn::Module& module);
  void leave();

  void on_new_memory(const intrusive_ptr<StorageImpl>& s, bool) override {
    fresh_[s.get()] = weak_intrusive_ptr<StorageImpl>(s);
  }
  void on_pointer(StorageImpl& s, const char* asked) override;
  void on_grad(const intrusive_ptr<TensorImpl>& t) override;

 private:
  // A tensor of the run, which may be gone: a weak owner keeps its address from
  // being used again.
  struct Known {
    weak_intrusive_ptr<TensorImpl> tensor;
    int32_t value;
  };
  struct Memory {
    weak_intrusive_ptr<StorageImpl> storage;
    std::vector<int32_t> values;  // that lie there
    bool is_input = false, is_held = false;
  };
  struct Saved {
    Tensor row, elements;
  };

  int32_t new_value(const TensorBase& t);
  void know(const TensorBase& t, int32_t value);
  int32_t find(const TensorBase& t);
  int32_t value_of(const TensorBase& t);
  int32_t constant(const TensorBase& t);
  int32_t detached(int32_t value, const TensorBase& t);
  int32_t unary(const char* op, int32_t value, const TensorBase& like);
  bool is_known(const TensorBase& t);
  TracedArgument argument(const Value& v);
  TracedArgument number(const TensorBase& t);
  TracedResult result(const Value& v);
  void run(const OperatorEntry& op, DispatchKeySet keys, Value* args,
           size_t num_args, Value* results, size_t num_results) const;
  bool is_beside(const OperatorEntry& op, const Value* args, size_t n);
  void save_written(const OperatorEntry& op, const Value* args);
  void record_call(const OperatorEntry& op, DispatchKeySet keys, Value* args,
                   size_t num_args, Value* results, size_t num_results);
  void record_functional(const OperatorEntry& op, Value* args, Value* results,
                         size_t num_results);
  void problem(std::string_view what, std::string_view why);
  size_t stack();

  Trace trace_;
  const RecordOptions& options_;
  std::unordered_map<const TensorImpl*, Known> known_;
  std::unordered_map<const StorageImpl*, Memory> memory_;
  std::unordered_map<const StorageImpl*, weak_intrusive_ptr<StorageImpl>>
      fresh_;
  std::map<const StorageImpl*, Saved> saved_;
  std::map<int32_t, int32_t> detached_;
  std::unordered_map<const nn::Module*, std::string> paths_;
  ModuleStack modules_;
  std::vector<bool> empty_;  // the value is memory that nobody wrote
};

thread_local Recorder* current = nullptr;

void recorded_call(const Kernel&, const OperatorEntry& op, DispatchKeySet keys,
                   Value* args, size_t num_args, Value* results,
                   size_t num_results) {
  keys = keys - DispatchKeySet(kKey);
  if (current != nullptr) {
    current->call(op, keys, args, num_args, results, num_results);
  } else {
    OperatorHandle(&op).redispatch_boxed(keys, args, num_args, results,
                                         num_results);
  }
}

// The fallback of kKey is there while one of these is.
class Registered {
 public:
  Registered() {
    const std::lock_guard lock(mutex());
    if (count()++ != 0) return;
    try {
      handle() = register_library(
          LibraryKind::Impl, "_", "TransformFront",
          [](Library& m) { m.fallback(Kernel::from_boxed(&recorded_call)); });
    } catch (...) {
      --count();
      throw;
    }
  }
  ~Registered() {
    const std::lock_guard lock(mutex());
    if (--count() == 0) handle() = RegistrationHandle();
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  static int& count() {
    static int n = 0;
    return n;
  }
  // Leaked: the dispatcher may be gone before static objects are.
  static RegistrationHandle& handle() {
    static auto* const h = new RegistrationHandle();
    return *h;
  }
};

Recorder::Recorder(const nn::Module& root, const RecordOptions& options)
    : options_(options) {
  for (const auto& item : root.named_modules()) {
    paths_.emplace(item.value().get(), item.key());
  }
  trace_.stacks.emplace_back();
}

// Memory of the program that was written gets its old elements back.
Recorder::~Recorder() {
  const NotRecorded quiet;
  const NoGradGuard no_grad;
  for (auto& [storage, saved] : saved_) saved.row.copy_(saved.elements);
}

// ---- values

int32_t Recorder::new_value(const TensorBase& t) {
  TracedValue v;
  v.dtype = t.scalar_type();
  v.device = t.device();
  v.sizes.assign(t.sizes().begin(), t.sizes().end());
  v.strides.assign(t.strides().begin(), t.strides().end());
  v.offset = t.storage_offset();
  trace_.values.push_back(std::move(v));
  empty_.push_back(false);
  return static_cast<int32_t>(trace_.values.size() - 1);
}

void Recorder::know(const TensorBase& t, int32_t value) {
  known_.insert_or_assign(
      t.impl(), Known{weak_intrusive_ptr<TensorImpl>(t.impl_ptr()), value});
  const intrusive_ptr<StorageImpl> storage =
      intrusive_ptr<StorageImpl>::retain(t.storage().get());
  Memory& m = memory_[storage.get()];
  if (m.values.empty()) m.storage = weak_intrusive_ptr<StorageImpl>(storage);
  m.values.push_back(value);
}

void Recorder::hold(const Tensor& t) {
  const int32_t value = new_value(t);
  trace_.values.back().requires_grad = t.requires_grad();
  if (known_.contains(t.impl())) return;  // it stands twice
  know(t, value);
  memory_[t.storage().get()].is_held = true;
}

void Recorder::add_input(const Tensor& t) {
  const int32_t value = new_value(t);
  trace_.values.back().requires_grad = t.requires_grad();
  know(t, value);
  memory_[t.storage().get()].is_input = true;
}

// kNoValue for a tensor that no recorded call has made. A tensor that autograd
// or C++ code made of a value, without a call, is that value.
int32_t Recorder::find(const TensorBase& t) {
  const auto at = known_.find(t.impl());
  if (at != known_.end()) return at->second.value;
  const auto memory = memory_.find(t.storage().get());
  if (memory == memory_.end()) return kNoValue;
  const auto& values = memory->second.values;
  for (auto v = values.rbegin(); v != values.rend(); ++v) {
    const TracedValue& known = trace_.values[size_t(*v)];
    if (known.dtype == t.scalar_type() && IntArrayRef(known.sizes) == t.sizes() &&
        IntArrayRef(known.strides) == t.strides() &&
        known.offset == t.storage_offset()) {
      know(t, *v);
      return *v;
    }
  }
  problem("a tensor", "lies in the memory of a value, and no operator made it");
  return values.back();
}

bool Recorder::is_known(const TensorBase& t) {
  return known_.contains(t.impl()) || memory_.contains(t.storage().get());
}

int32_t Recorder::value_of(const TensorBase& t) {
  int32_t value = find(t);
  if (value == kNoValue) value = constant(t);
  if (grad_off() && static_cast<const Tensor&>(t).requires_grad()) {
    return detached(value, t);
  }
  return value;
}

int32_t Recorder::constant(const TensorBase& t) {
  const bool fresh = fresh_.contains(t.storage().get());
  const int32_t value = new_value(t);
  TracedConstant c{value, Tensor(t), fresh};
  {
    const NotRecorded quiet;
    const NoGradGuard no_grad;
    c.tensor = fresh ? c.tensor.detach().clone() : c.tensor.detach();
  }
  trace_.constants.push_back(std::move(c));
  if (!fresh) {
    know(t, value);
    return value;
  }
  // The run may write it, and makes it anew each time.
  const int32_t copy = unary("aten::lift_fresh_copy", value, t);
  know(t, copy);
  return copy;
}

int32_t Recorder::unary(const char* op, int32_t value, const TensorBase& like) {
  TracedNode node;
  node.op = &Dispatcher::singleton().find_or_throw(op).entry();
  node.arguments.push_back({TracedArgument::Kind::Tensor, {}, {value}});
  const int32_t out = new_value(like);
  node.results.push_back({false, {out}});
  node.stack = stack();
  trace_.nodes.push_back(std::move(node));
  return out;
}

// No gradient passes a call that is made while gradients are off.
int32_t Recorder::detached(int32_t value, const TensorBase& t) {
  const auto at = detached_.find(value);
  if (at != detached_.end()) return at->second;
  const int32_t out = unary("aten::detach", value, t);
  detached_.emplace(value, out);
  return out;
}

TracedArgument Recorder::number(const TensorBase& t) {
  const NotRecorded quiet;
  TracedArgument out;
  out.constant = Value(static_cast<const Tensor&>(t).item());
  return out;
}

TracedArgument Recorder::argument(const Value& v) {
  using Kind = TracedArgument::Kind;
  if (v.is_tensor()) {
    const TensorBase& t = v.to_tensor();
    if (t.impl()->is_wrapped_number()) return number(t);
    return {Kind::Tensor, {}, {value_of(t)}};
  }
  if (v.tag() != Value::Tag::TensorList &&
      v.tag() != Value::Tag::OptionalTensorList) {
    return {Kind::Constant, v, {}};
  }
  TracedArgument out{Kind::Tensors, {}, {}};
  for (const TensorBase& t : v.to_tensor_list()) {
    out.values.push_back(t.defined() ? value_of(t) : kNoValue);
  }
  return out;
}

TracedResult Recorder::result(const Value& v) {
  TracedResult out;
  const auto add = [&](const TensorBase& t) {
    const int32_t value = t.defined() ? new_value(t) : kNoValue;
    // What is written without gradients stays the value that has some.
    const bool stays = grad_off() && t.defined() && known_.contains(t.impl());
    if (t.defined() && !stays) know(t, value);
    out.values.push_back(value);
  };
  out.is_list = v.tag() == Value::Tag::TensorList;
  if (out.is_list) {
    for (const TensorBase& t : v.to_tensor_list()) add(t);
  } else if (v.is_tensor()) {
    add(v.to_tensor());
  } else {
    out.values.push_back(kNoValue);
  }
  return out;
}

// ---- calls

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
    const TensorBase& t = to >= 0 ? args[to].to_tensor() : results[0].to_tensor();
    const int32_t made = new_value(t);
    node.results.push_back({false, {made}});
    if (to < 0) continue;
    if (!is_known(t)) {
      know(t, made);
      continue;
    }
    TracedNode copy;
    copy.op = &Dispatcher::singleton().find_or_throw("aten::copy_").entry();
    copy.arguments = {{TracedArgument::Kind::Tensor, {}, {find(t)}},
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

// ---- what is no call

void Recorder::on_pointer(StorageImpl& s, const char* asked) {
  const auto at = memory_.find(&s);
  if (at == memory_.end()) return;
  const auto& values = at->second.values;
  const bool untouched = std::all_of(values.begin(), values.end(), [&](auto v) {
    return empty_[size_t(v)];
  });
  if (!untouched) {
    problem(asked, "reads elements of a value by their address");
    return;
  }
  // Memory that the code fills itself is a constant.
  const auto storage = intrusive_ptr<StorageImpl>::retain(&s);
  fresh_[&s] = weak_intrusive_ptr<StorageImpl>(storage);
  std::erase_if(known_, [&](const auto& k) {
    return std::find(values.begin(), values.end(), k.second.value) !=
           values.end();
  });
  memory_.erase(at);
}

void Recorder::on_grad(const intrusive_ptr<TensorImpl>& t) {
  if (known_.contains(t.get())) problem(".grad", "of a value is read or set");
}

void Recorder::enter(const nn::Module& module) {
  const auto path = paths_.find(&module);
  modules_.emplace_back(path == paths_.end() ? "" : path->second,
                        module.name());
}

void Recorder::leave() {
  if (!modules_.empty()) modules_.pop_back();
}

size_t Recorder::stack() {
  if (trace_.stacks.back() != modules_) trace_.stacks.push_back(modules_);
  return trace_.stacks.size() - 1;
}

void Recorder::problem(std::string_view what, std::string_view why) {
  trace_.problems.push_back(str("{} {}", place_of(what, modules_), why));
}

Trace Recorder::finish(const ArchiveValue& result) {
  trace_.result = result;
  for_each_leaf(result, [&](const ArchiveValue& leaf) {
    using Kind = ArchiveValue::Kind;
    TracedArgument out;
    switch (leaf.kind()) {
      case Kind::Tensor: out = argument(Value(TensorBase(leaf.to_tensor()))); break;
      case Kind::Bool: out.constant = leaf.to_bool(); break;
      case Kind::Int: out.constant = leaf.to_int(); break;
      case Kind::Float: out.constant = leaf.to_double(); break;
      case Kind::None: break;
      default: problem("a result", "is a string, which graphs do not have");
    }
    trace_.outputs.push_back(std::move(out));
  });
  return std::move(trace_);
}

// Hooks of all modules of the process, for calls of this thread.
class ModuleHooks {
 public:
  ModuleHooks()
      : before_(nn::register_module_forward_pre_hook(
            [](nn::Module& m, std::vector<Tensor>&) {
              if (current != nullptr) current->enter(m);
            })),
        after_(nn::register_module_forward_hook(
            [](nn::Module&, TensorList, std::vector<Tensor>&) {
              if (current != nullptr) current->leave();
            })) {}
  ~ModuleHooks() {
    before_.remove();
    after_.remove();
  }
  ModuleHooks(const ModuleHooks&) = delete;
  ModuleHooks& operator=(const ModuleHooks&) = delete;

 private:
  nn::HookHandle before_, after_;
};

// The calls of this thread are recorded.
class Recording {
 public:
  explicit Recording(Recorder* recorder)
      : included_(kKey), gradients_(true), capture_(thread_state.capture) {
    SY_CHECK(current == nullptr, Value,
             "[export_program] expected a module that exports none itself");
    current = recorder;
    thread_state.capture = recorder;
  }
  ~Recording() {
    thread_state.capture = capture_;
    current = nullptr;
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  const ModuleHooks hooks_;
  const IncludeDispatchKeyGuard included_;
  const AutoGradMode gradients_;
  CaptureHooks* const capture_;
};

}  // namespace

std::string place_of(std::string_view what, const ModuleStack& stack) {
  if (stack.empty()) return std::string(what);
  const auto& [path, type] = stack.back();
  if (path.empty()) return str("{} in {}", what, type);
  return str("{} in '{}' ({})", what, path, type);
}

Trace record(const nn::Module& root, const std::vector<HeldTensor>& held,
             const ExportedCall& call, const std::vector<ArchiveValue>& inputs,
             const RecordOptions& options) {
  const Registered registered;
  Recorder recorder(root, options);
  for (const HeldTensor& h : held) recorder.hold(h.tensor);
  for (const ArchiveValue& input : inputs) {
    for_each_leaf(input, [&](const ArchiveValue& leaf) {
      if (leaf.is_tensor()) recorder.add_input(leaf.to_tensor());
    });
  }
  const Recording recording(&recorder);
  return recorder.finish(call(inputs));
}

}  // namespace sy::exporting
