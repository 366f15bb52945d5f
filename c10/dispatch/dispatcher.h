#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "c10/dispatch/boxing.h"
#include "c10/dispatch/dispatch_table.h"
#include "c10/dispatch/operator_def.h"
#include "c10/dispatch/thread_state.h"

// How operators are called. A call collects the dispatch keys of its tensor
// arguments, adds and removes the keys of the thread, and jumps through the
// operator's table (see docs/design.md). The table has the first of these
// kernels that exists: the one registered for exactly the key;
// CompositeExplicitAutograd (for backends only); CompositeImplicitAutograd (for
// backends, and for Autograd of backends without one of those two); the
// Autograd alias; the key's fallback. Other threads may register libraries
// meanwhile: a call sees all kernels of a library or none.

namespace sy {

class FunctionSchema;
class LibraryToken;
struct KernelRecord;

// Data that a higher layer computes once for an operator and keeps with it.
struct SY_API OperatorExtra {
  virtual ~OperatorExtra();
};

// One overload in the dispatcher. Never destroyed: when its library is
// unloaded, the entry stays without definition, and calls throw
// NotImplementedError.
class SY_API OperatorEntry {
 public:
  std::string_view name() const { return name_; }  // "aten::add.Tensor"
  bool defined() const { return defined_.load(std::memory_order_acquire); }
  // "aten::add.Tensor(Tensor self, ...) -> Tensor". Throws NotImplementedError
  // if the operator is not defined.
  std::string schema_text() const;
  // Parsed on first use. Valid until the operator's library is unloaded. Throws
  // NotImplementedError if the operator is not defined.
  const FunctionSchema& schema() const;
  const OperatorInfo* info() const { return def_.info; }
  // nullptr if the definition names none. write_plan() of
  // aten/backend/write_plan.h gives an answer for every operator.
  const FunctionalForm* functional() const { return def_.functional; }
  // The object that `make(*this)` gave at the first call; it is freed with the
  // definition. All callers must pass the same `make`:
  // aten/backend/write_plan.h is the only caller.
  const OperatorExtra& extra(
      OperatorExtra* (*make)(const OperatorEntry&)) const;
  uint16_t flags() const { return def_.flags; }
  bool has_flag(OperatorDef::Flag f) const { return (def_.flags & f) != 0; }
  uint64_t tensor_args() const { return def_.tensor_args; }
  const CppSignature* signature() const { return def_.signature; }
  int num_args() const { return num_args_; }
  int num_results() const { return num_results_; }

  const DispatchTable& table() const {
    return *table_.load(std::memory_order_acquire);
  }
  // Whether a call with that key would run a kernel of the operator, its
  // composites included. Fallbacks do not count.
  bool has_kernel(DispatchKey functionality, DeviceType backend) const;
  // Whether a kernel is registered for this backend alone.
  bool has_own_kernel(DeviceType backend) const {
    return ((table().own >> number_of(backend)) & 1u) != 0;
  }

  // The keys of the tensors in boxed arguments (num_args() of them).
  DispatchKeySet keys_of(const Value* args) const;
  // Puts "[name] " before the message if it names no operator.
  SY_COLD void name_in(Error& e) const;
  // Throws the exception again, in a handler of a call. An Error names the
  // operator then, and std::bad_alloc is an OutOfMemoryError.
  [[noreturn]] SY_COLD void rethrow() const;
  // Chooses the highest backend if tensors are on several. Throws ValueError if
  // two of them are not the CPU, unless the operator has kNoDeviceCheck.
  DispatchKeySet resolve_backends(DispatchKeySet keys) const;
  // Throws NotImplementedError with the kernels that exist, or ValueError if a
  // list of tensors has no defined one.
  [[noreturn]] SY_COLD void missing_kernel(DispatchKeySet keys,
                                           const DispatchKeySet* arg_keys,
                                           size_t num_arg_keys) const;

 private:
  friend class Registry;
  explicit OperatorEntry(std::string name);

  std::atomic<const DispatchTable*> table_;
  std::atomic<bool> defined_{false};
  uint8_t num_args_ = 0, num_results_ = 0;
  OperatorDef def_;
  std::string name_;
  std::string schema_copy_;  // of definitions made from text
  mutable std::atomic<const FunctionSchema*> schema_{nullptr};
  mutable std::atomic<const OperatorExtra*> extra_{nullptr};
  LibraryToken* owner_ = nullptr;
  KernelRecord* kernels_ = nullptr;  // own kernels, newest first
};

namespace detail {

inline constexpr uint64_t kAlwaysIncluded =
    DispatchKeySet(DispatchKey::BackendSelect).bits();

template <class T>
SY_ALWAYS_INLINE void add_keys(uint64_t& bits, const T& arg) {
  if constexpr (is_tensor<T>) {
    if (const TensorImpl* t = arg.impl()) bits |= t->key_set().bits();
  } else if constexpr (std::is_same_v<T, std::optional<TensorBase>> ||
                       requires {
                         requires is_tensor<typename T::value_type>;
                       }) {
    if constexpr (requires { arg.size(); }) {
      for (const auto& t : arg) add_keys(bits, t);
    } else {
      if (arg.has_value()) add_keys(bits, *arg);
    }
  } else if constexpr (requires {
                         requires is_tensor<typename T::value_type::value_type>;
                       }) {
    for (const auto& t : arg) add_keys(bits, t);
  }
}

template <class... A>
SY_ALWAYS_INLINE DispatchKeySet keys_of(const A&... args) {
  uint64_t bits = 0;
  (add_keys(bits, args), ...);
  return DispatchKeySet::raw(bits);
}

SY_ALWAYS_INLINE DispatchKeySet thread_keys(DispatchKeySet keys) {
  const ThreadState& s = thread_state;
  return DispatchKeySet::raw((keys.bits() | s.included | kAlwaysIncluded) &
                             ~s.excluded);
}

}  // namespace detail

template <class Signature>
class TypedOperator;

// A handle to one overload: a pointer, valid for the life of the process.
class OperatorHandle {
 public:
  explicit OperatorHandle(const OperatorEntry* entry) : entry_(entry) {}
  const OperatorEntry& entry() const { return *entry_; }
  std::string_view name() const { return entry_->name(); }
  const FunctionSchema& schema() const { return entry_->schema(); }

  // Throws TypeError if Signature is not the operator's.
  template <class Signature>
  TypedOperator<Signature> typed() const {
    check_signature(detail::SignatureTraits<Signature>::kSignature);
    return TypedOperator<Signature>(entry_);
  }

  // `args` are all arguments in the schema's order (num_args() of them). The
  // call borrows them, changes written tensors in place, and assigns all
  // num_results() results. call_boxed throws TypeError for other counts.
  // redispatch_boxed is for kernels, as TypedOperator::redispatch is.
  SY_API void call_boxed(Value* args, size_t num_args, Value* results,
                         size_t num_results) const;
  SY_API void redispatch_boxed(DispatchKeySet keys, Value* args,
                               size_t num_args, Value* results,
                               size_t num_results) const;
  friend bool operator==(OperatorHandle, OperatorHandle) = default;

 private:
  SY_API void check_signature(const CppSignature& s) const;
  const OperatorEntry* entry_;
};

template <class R, class... A>
class TypedOperator<R(A...)> {
  using Traits = detail::SignatureTraits<R(A...)>;
  using Unboxed = typename Traits::Unboxed;

 public:
  explicit TypedOperator(const OperatorEntry* entry) : entry_(entry) {}
  const OperatorEntry& entry() const { return *entry_; }
  OperatorHandle handle() const { return OperatorHandle(entry_); }

  SY_ALWAYS_INLINE R call(A... args) const {
    const CallScope in_flight;
    try {
      return run(detail::thread_keys(detail::keys_of(args...)),
                 std::forward<A>(args)...);
    } catch (...) {
      entry_->rethrow();
    }
  }
  // For kernels: continues with exactly these keys. The keys of the thread are
  // neither added nor removed.
  SY_ALWAYS_INLINE R redispatch(DispatchKeySet keys, A... args) const {
    return run(keys, std::forward<A>(args)...);
  }

 private:
  SY_ALWAYS_INLINE R run(DispatchKeySet keys, A... args) const {
    const DispatchTable& table = entry_->table();
    keys = keys & DispatchKeySet::raw(table.mask);
    if (SY_UNLIKELY(keys.mixed_backends())) {
      keys = entry_->resolve_backends(keys);
    }
    const DispatchSlot& slot = table.find(keys);
    if (SY_LIKELY(slot.fn != nullptr)) {
      return reinterpret_cast<Unboxed>(slot.fn)(slot.kernel, keys,
                                                std::forward<A>(args)...);
    }
    return slow(slot, keys, std::forward<A>(args)...);
  }
  SY_NOINLINE R slow(const DispatchSlot& slot, DispatchKeySet keys,
                     A... args) const {
    if (slot.kernel != nullptr && slot.kernel->is_fallthrough()) {
      return redispatch(keys - DispatchKeySet(keys.highest_functionality()),
                        std::forward<A>(args)...);
    }
    if (slot.kernel == nullptr) {
      const DispatchKeySet arg_keys[] = {detail::keys_of(args)...,
                                         DispatchKeySet()};
      entry_->missing_kernel(keys, arg_keys, sizeof...(A));
    }
    return Traits::box_and_call(slot.kernel, *entry_, keys,
                                std::forward<A>(args)...);
  }

  const OperatorEntry* entry_;
};

class SY_API Dispatcher {
 public:
  static Dispatcher& singleton();

  // Finds an operator by its full name, "aten::add.Tensor"; the namespace aten
  // may be left out. Commits linked libraries first (see init()).
  std::optional<OperatorHandle> find(std::string_view full_name) const;
  // Throws NotImplementedError, which suggests the nearest name.
  OperatorHandle find_or_throw(std::string_view full_name) const;
  OperatorHandle findSchemaOrThrow(std::string_view name,
                                   std::string_view overload) const;
  // Defined operators, sorted by name.
  std::vector<OperatorHandle> operators() const;
  // Bytes of the tables and entries, heap included.
  size_t memory_in_use() const;
};

// Commits the libraries linked to the program. The first look-up calls it.
// Throws RegistrationError with every problem of every library.
SY_API void init();

// The handle of an operator whose C++ signature is known. Throws what
// find_or_throw() and typed() throw.
template <class Signature>
TypedOperator<Signature> typed_operator(std::string_view full_name) {
  return Dispatcher::singleton()
      .find_or_throw(full_name)
      .template typed<Signature>();
}

// The same, looked up at the first use: a constinit static object. One that is
// made by typed_operator() at its first use could be left half made in a child
// of fork (c10/process/fork.h).
template <class Signature>
class KnownOperator;
template <class R, class... A>
class KnownOperator<R(A...)> {
 public:
  constexpr explicit KnownOperator(const char* full_name) noexcept
      : full_name_(full_name) {}

  SY_ALWAYS_INLINE TypedOperator<R(A...)> get() {
    const OperatorEntry* e = entry_.load(std::memory_order_acquire);
    if (SY_UNLIKELY(e == nullptr)) e = look_up();
    return TypedOperator<R(A...)>(e);
  }
  SY_ALWAYS_INLINE R call(A... args) {
    return get().call(std::forward<A>(args)...);
  }

 private:
  // Several threads may do it at once.
  SY_NOINLINE const OperatorEntry* look_up() {
    const OperatorEntry* const e = &typed_operator<R(A...)>(full_name_).entry();
    entry_.store(e, std::memory_order_release);
    return e;
  }

  const char* full_name_;
  std::atomic<const OperatorEntry*> entry_{nullptr};
};

}  // namespace sy
