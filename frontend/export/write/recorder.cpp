#include "frontend/export/write/recorder.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "aten/operators.h"
#include "c10/plugin/library.h"
#include "c10/process/fork.h"
#include "frontend/nn/module_hooks.h"

namespace sy::exporting {

namespace {

bool grad_off() {
  return !GradMode::is_enabled() || InferenceMode::is_enabled();
}

}  // namespace

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
    if (known.dtype == t.scalar_type() &&
        IntArrayRef(known.sizes) == t.sizes() &&
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

// ---- what is no call

void Recorder::on_pointer(StorageImpl& s, const char* asked) {
  const auto at = memory_.find(&s);
  if (at == memory_.end()) return;
  const auto& values = at->second.values;
  const bool untouched = std::all_of(values.begin(), values.end(),
                                     [&](auto v) { return empty_[size_t(v)]; });
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
      case Kind::Tensor:
        out = argument(Value(TensorBase(leaf.to_tensor())));
        break;
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

std::string place_of(std::string_view what, const ModuleStack& stack) {
  if (stack.empty()) return std::string(what);
  const auto& [path, type] = stack.back();
  if (path.empty()) return str("{} in {}", what, type);
  return str("{} in '{}' ({})", what, path, type);
}

namespace {

thread_local Recorder* current = nullptr;

void recorded_call(const Kernel&, const OperatorEntry& op, DispatchKeySet keys,
                   Value* args, size_t num_args, Value* results,
                   size_t num_results) {
  keys = keys - DispatchKeySet(kRecorderKey);
  if (current != nullptr) {
    current->call(op, keys, args, num_args, results, num_results);
  } else {
    OperatorHandle(&op).redispatch_boxed(keys, args, num_args, results,
                                         num_results);
  }
}

// The fallback of kRecorderKey is there while one of these is.
class Registered {
 public:
  Registered() {
    const std::lock_guard lock(mutex_);
    if (count_++ != 0) return;
    try {
      handle() = register_library(
          LibraryKind::Impl, "_", "TransformFront",
          [](Library& m) { m.fallback(Kernel::from_boxed(&recorded_call)); });
    } catch (...) {
      --count_;
      throw;
    }
  }
  ~Registered() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) handle() = RegistrationHandle();
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;

 private:
  // Leaked: the dispatcher may be gone before static objects are.
  static RegistrationHandle& handle() {
    static auto* const h = new RegistrationHandle();
    return *h;
  }

  static constinit ForkMutex mutex_;
  static inline int count_ = 0;
};

constinit ForkMutex Registered::mutex_;

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
      : included_(kRecorderKey),
        gradients_(true),
        capture_(thread_state.capture) {
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
