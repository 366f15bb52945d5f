#include "c10/dispatch/dispatcher.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <new>

#include "c10/dispatch/registry.h"
#include "c10/dispatch/signature_check.h"
#include "c10/schema/function_schema.h"
#include "c10/schema/parser.h"

namespace sy {

OperatorEntry::OperatorEntry(std::string name)
    : table_(nullptr), name_(std::move(name)) {}

void OperatorEntry::name_in(Error& e) const {
  const std::string_view name = name_;
  const std::string_view short_name =
      name.starts_with("aten::") ? name.substr(6) : name;
  if (e.message().starts_with('[') ||
      e.message().find(name) != std::string::npos) {
    return;
  }
  e.add_prefix(str("[{}] ", short_name));
}

void OperatorEntry::rethrow() const {
  try {
    throw;
  } catch (Error& e) {
    name_in(e);
    throw;
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::OutOfMemory, "[{}] no memory is left", name_);
  }
}

std::string OperatorEntry::schema_text() const {
  SY_CHECK(defined(), NotImplemented, "operator {} is not defined (any more)",
           name_);
  if (!schema_copy_.empty()) return schema_copy_;
  return str("{}{}", name_.substr(0, name_.find("::") + 2), def_.schema);
}

const FunctionSchema& OperatorEntry::schema() const {
  const FunctionSchema* s = schema_.load(std::memory_order_acquire);
  if (s != nullptr) return *s;
  auto* fresh = new FunctionSchema(parse_schema(schema_text()));
  if (!schema_.compare_exchange_strong(s, fresh)) {
    delete fresh;  // another thread was first
    return *s;
  }
  return *fresh;
}

OperatorExtra::~OperatorExtra() = default;

const OperatorExtra& OperatorEntry::extra(
    OperatorExtra* (*make)(const OperatorEntry&)) const {
  const OperatorExtra* e = extra_.load(std::memory_order_acquire);
  if (e != nullptr) return *e;
  const OperatorExtra* fresh = make(*this);
  if (!extra_.compare_exchange_strong(e, fresh)) {
    delete fresh;  // another thread was first
    return *e;
  }
  return *fresh;
}

bool OperatorEntry::has_kernel(DispatchKey f, DeviceType backend) const {
  const DispatchTable& t = table();
  if ((t.mask & DispatchKeySet(f).bits()) == 0) return false;
  const DispatchKeySet keys =
      DispatchKeySet(f) | DispatchKeySet::backend(backend);
  const Kernel* const k = detail::untraced(t.find(keys).kernel);
  return k != nullptr && !k->is_fallthrough() && !k->is_fallback();
}

DispatchKeySet OperatorEntry::keys_of(const Value* args) const {
  uint64_t bits = 0;
  for (uint64_t rest = def_.tensor_args; rest != 0; rest &= rest - 1) {
    const Value& v = args[std::countr_zero(rest)];
    if (const TensorImpl* t = v.tensor_impl()) {
      bits |= t->key_set().bits();
    } else if (v.tag() == Value::Tag::TensorList ||
               v.tag() == Value::Tag::OptionalTensorList) {
      for (const TensorBase& e : v.to_tensor_list()) {
        bits |= e.key_set().bits();
      }
    }
  }
  return DispatchKeySet::raw(bits);
}

DispatchKeySet OperatorEntry::resolve_backends(DispatchKeySet keys) const {
  const uint32_t others = keys.backend_bits() & ~1u;
  const uint32_t highest = 1u << number_of(keys.highest_backend());
  if ((others & (others - 1)) != 0 && !has_flag(OperatorDef::kNoDeviceCheck)) {
    std::string names;
    for (int n = 1; n < kMaxBackends; ++n) {
      const DeviceType t = device_type_of(n);
      if (keys.has_backend(t)) {
        names +=
            str("{}{}", names.empty() ? "" : " and ", backend_device_name(t));
      }
    }
    fail(ErrorKind::Value,
         "[{}] expected all tensors on one device, got tensors on {}; copy one "
         "with .to(device)",
         name_, names);
  }
  return DispatchKeySet::raw((keys.bits() & ~uint64_t{0xffffffff}) | highest);
}

void OperatorEntry::missing_kernel(DispatchKeySet keys,
                                   const DispatchKeySet* arg_keys,
                                   size_t n) const {
  SY_CHECK(
      defined(), NotImplemented,
      "[{}] is not defined any more: the library that defined it was unloaded",
      name_);
  const DispatchKey f = keys.highest_functionality();
  if (f == DispatchKey::Undefined) {
    for (const Argument& a : schema().arguments()) {
      SY_CHECK(!a.type.is_list() || !a.type.is_tensor_like(), Value,
               "[{}] {}: expected at least one defined tensor, got none", name_,
               a.name.view());
    }
  }
  const bool on_backend = ((kPerBackendFunctionality >> int(f)) & 1u) != 0;
  const std::string chosen =
      key_name({f, on_backend ? number_of(keys.highest_backend()) : -1});
  std::string text = str("[{}] has no kernel for {}", name_, chosen);
  if (on_backend) {
    const DeviceType backend = keys.highest_backend();
    const std::string why = why_not_loaded(backend);
    SY_CHECK(why.empty(), NotImplemented, "{}: '{}': {}", text,
             backend_device_name(backend), why);
  }
  for (size_t i = 0; i < n && i < 4; ++i) {
    if (arg_keys[i].empty()) continue;
    text += str("\n  argument {}: {}", i, to_string(arg_keys[i]));
  }
  const std::string kernels = Registry::singleton().kernels_of(*this);
  text += str("\n  kernels: {}", kernels.empty() ? "none" : kernels);
  const DispatchKeySet excluded = DispatchKeySet::raw(thread_state.excluded);
  if (!excluded.empty()) {
    text += str("\n  excluded on this thread: {}", to_string(excluded));
  }
  DispatchKeySet all;
  for (size_t i = 0; i < n; ++i) all = all | arg_keys[i];
  if (f == DispatchKey::Undefined && !all.empty()) {
    text += "\n  the keys of the arguments are excluded, so no backend is left";
  } else if (f == DispatchKey::Undefined) {
    text += "\n  no argument is a defined tensor, so no backend was chosen";
  } else if (on_backend) {
    text +=
        str("\n  register one with SY_LIBRARY_IMPL({}, {}, m), or a fallback "
            "for the backend",
            name_.substr(0, name_.find(':')), chosen);
  }
  throw NotImplementedError(std::move(text));
}

namespace {

void run_boxed(const OperatorEntry& e, DispatchKeySet keys, Value* args,
               size_t num_args, Value* results, size_t num_results) {
  const DispatchTable& table = e.table();
  keys = keys & DispatchKeySet::raw(table.mask);
  if (SY_UNLIKELY(keys.mixed_backends())) keys = e.resolve_backends(keys);
  const DispatchSlot* slot = &table.find(keys);
  while (slot->kernel != nullptr && slot->kernel->is_fallthrough()) {
    keys = keys - DispatchKeySet(keys.highest_functionality());
    slot = &table.find(keys);
  }
  if (SY_UNLIKELY(slot->kernel == nullptr)) {
    const DispatchKeySet all = e.keys_of(args);
    e.missing_kernel(keys, &all, 1);
  }
  slot->kernel->boxed(*slot->kernel, e, keys, args, num_args, results,
                      num_results);
}

// Whether a value of that tag can be unboxed as the type.
bool fits(Value::Tag tag, Type type) {
  using Tag = Value::Tag;
  if (type.is_optional()) return tag == Tag::None || fits(tag, type.element());
  const bool number = tag == Tag::Bool || tag == Tag::Int || tag == Tag::Double;
  switch (type.kind()) {
    case TypeKind::kTensor: return tag == Tag::Tensor || tag == Tag::None;
    case TypeKind::kScalar: return number;
    case TypeKind::kInt:
    case TypeKind::kSymInt: return tag == Tag::Int;
    case TypeKind::kFloat: return tag == Tag::Double || tag == Tag::Int;
    case TypeKind::kBool: return tag == Tag::Bool;
    case TypeKind::kStr: return tag == Tag::String;
    case TypeKind::kScalarType: return tag == Tag::ScalarType;
    case TypeKind::kLayout: return tag == Tag::Layout;
    case TypeKind::kDevice: return tag == Tag::Device;
    case TypeKind::kMemoryFormat: return tag == Tag::MemoryFormat;
    case TypeKind::kList:
      return tag >= Tag::IntList || (number && !type.is_tensor_like());
    default: return true;
  }
}

// An unboxing that failed says what it got, not what for.
void name_argument(TypeError& e, const OperatorEntry& op, const Value* args) {
  if (!e.message().starts_with('[')) {
    const auto arguments = op.schema().arguments();
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (fits(args[i].tag(), arguments[i].type)) continue;
      e.add_prefix(str("{}: ", arguments[i].name.view()));
      break;
    }
  }
  op.name_in(e);
}

}  // namespace

void OperatorHandle::call_boxed(Value* args, size_t num_args, Value* results,
                                size_t num_results) const {
  const CallScope in_flight;
  SY_CHECK(
      entry_->defined(), NotImplemented,
      "[{}] is not defined any more: the library that defined it was unloaded",
      entry_->name());
  SY_CHECK(num_args == static_cast<size_t>(entry_->num_args()) &&
               num_results == static_cast<size_t>(entry_->num_results()),
           Type, "[{}] expected {} arguments and {} results, got {} and {}",
           entry_->name(), entry_->num_args(), entry_->num_results(), num_args,
           num_results);
  try {
    run_boxed(*entry_, detail::thread_keys(entry_->keys_of(args)), args,
              num_args, results, num_results);
  } catch (TypeError& e) {
    name_argument(e, *entry_, args);
    throw;
  } catch (...) {
    entry_->rethrow();
  }
}

void OperatorHandle::redispatch_boxed(DispatchKeySet keys, Value* args,
                                      size_t num_args, Value* results,
                                      size_t num_results) const {
  run_boxed(*entry_, keys, args, num_args, results, num_results);
}

void OperatorHandle::check_signature(const CppSignature& s) const {
  const std::string wrong = entry_->signature() != nullptr
                                ? signature_mismatch(s, *entry_->signature())
                                : signature_mismatch(s, entry_->schema());
  SY_CHECK(wrong.empty(), Type, "[{}] typed(): {}", entry_->name(), wrong);
}

Dispatcher& Dispatcher::singleton() {
  static auto* d = new Dispatcher;
  return *d;
}

namespace {

// Pieces of a name as one text, on the stack if it is of ordinary length.
class JoinedName {
 public:
  JoinedName(std::initializer_list<std::string_view> pieces) {
    size_t size = 0;
    for (const std::string_view p : pieces) size += p.size();
    char* to = stack_;
    if (size > sizeof stack_) {
      heap_.resize(size);
      to = heap_.data();
    }
    text_ = {to, size};
    for (const std::string_view p : pieces) {
      if (!p.empty()) std::memcpy(to, p.data(), p.size());
      to += p.size();
    }
  }
  JoinedName(const JoinedName&) = delete;
  JoinedName& operator=(const JoinedName&) = delete;
  operator std::string_view() const { return text_; }

 private:
  char stack_[96];
  std::string heap_;
  std::string_view text_;
};

}  // namespace

std::optional<OperatorHandle> Dispatcher::find(
    std::string_view full_name) const {
  auto& registry = Registry::singleton();
  const OperatorEntry* const e =
      full_name.find("::") != std::string_view::npos
          ? registry.look_up(full_name)
          : registry.look_up(JoinedName{"aten::", full_name});
  if (e == nullptr || !e->defined()) return std::nullopt;
  return OperatorHandle(e);
}

OperatorHandle Dispatcher::find_or_throw(std::string_view full_name) const {
  if (const auto handle = find(full_name)) return *handle;
  const std::string name = full_name.find("::") == std::string_view::npos
                               ? str("aten::{}", full_name)
                               : std::string(full_name);
  fail(ErrorKind::NotImplemented, "no operator {}{}", name,
       Registry::singleton().hint_for(name));
}

OperatorHandle Dispatcher::findSchemaOrThrow(std::string_view name,
                                             std::string_view overload) const {
  if (overload.empty()) return find_or_throw(name);
  return find_or_throw(JoinedName{name, ".", overload});
}

std::vector<OperatorHandle> Dispatcher::operators() const {
  init();
  std::vector<OperatorHandle> out;
  for (const OperatorEntry* e : Registry::singleton().defined()) {
    out.emplace_back(e);
  }
  return out;
}

size_t Dispatcher::memory_in_use() const {
  return Registry::singleton().memory_in_use();
}

void init() { Registry::singleton().commit_pending(); }

}  // namespace sy
