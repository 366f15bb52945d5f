#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "c10/dispatch/entry_index.h"
#include "c10/dispatch/introspect.h"
#include "c10/plugin/library.h"
#include "c10/plugin/library_token.h"
#include "c10/process/fork.h"

// The state of the dispatcher, internal to c10: entries, kernels, fallbacks,
// and who registered what and where. One mutex guards everything here; the
// parts that calls read are published through atomics. See Note [Publishing
// tables] in registry.cpp.

namespace sy {

// A key as registrations name it: a functionality or an alias, and a backend,
// -1 for none or all.
struct ResolvedKey {
  DispatchKey key;
  int backend = -1;
  friend bool operator==(ResolvedKey, ResolvedKey) = default;
};

// "CPU", "AutogradNpu", "CompositeImplicitAutograd". nullopt if unknown.
std::optional<ResolvedKey> resolve_key(std::string_view name);
std::string key_name(ResolvedKey key);

struct KernelRecord {
  Kernel kernel;
  ResolvedKey key;
  LibraryToken* owner;
  const char* file;
  int line;
  KernelRecord* next = nullptr;
};

struct Site {
  const char* file = "";
  int line = 0;
  LibraryToken* owner = nullptr;
};

// The requests of the bodies of one shared object, before anything is checked.
class RegistrationBatch {
 public:
  struct Def {
    OperatorDef def;
    std::string full_name;
    std::string schema;  // not empty: parse and keep this text
    Site site;
  };
  struct Impl {
    std::string full_name;  // empty: fallback
    std::string key;
    Kernel kernel;
    Site site;
  };
  struct Backend {
    std::string key, device;
    DeviceInterface* interface;
    Site site;
  };
  struct Service {
    std::string key;
    BackendService service;
    void* object;
    Site site;
  };

  explicit RegistrationBatch(LibraryToken* owner) : owner_(owner) {}
  LibraryToken* owner() const { return owner_; }
  // Runs a block's body; an exception becomes a problem.
  void run(const LibraryRecord& record);
  void run(const LibraryRecord& record, void (*body)(Library&, void*),
           void* context);
  void problem(const Site& site, const std::string& text);
  Site site(const LibraryRecord& record) const {
    return {record.file, record.line, owner_};
  }

  std::vector<Def> defs;
  std::vector<Impl> impls;
  std::vector<Backend> backends;
  std::vector<Service> services;
  std::vector<std::pair<std::string, Site>> namespaces;
  std::vector<std::string> problems;

 private:
  LibraryToken* owner_;
};

class Loader;

class Registry {
 public:
  static Registry& singleton();

  // Registers the whole batch, or nothing: then throws RegistrationError with
  // every problem.
  void commit(RegistrationBatch& batch);
  // Removes all that the token registered, after the calls in flight have
  // returned. Throws Error and changes nothing if somebody holds the library;
  // the error names who.
  void withdraw(LibraryToken* token, std::chrono::milliseconds timeout);
  // Commits linked libraries whose records are pending.
  void commit_pending();
  // Removes the pending records from the list, oldest first.
  std::vector<LibraryRecord*> take_pending();
  // Commits the records of one shared object as one batch.
  void commit_records(const std::vector<LibraryRecord*>& records,
                      LibraryToken* token);
  LibraryToken* token_of(const void* dso, const std::string& name);
  LibraryToken* new_token(std::string name, const void* dso);
  LibraryToken* find_token(const void* dso) const;

  // Commits pending records, then looks up without a lock.
  OperatorEntry* look_up(std::string_view full_name);
  // A hint to end a message with, for a name that no operator has: its
  // overloads, else the nearest name, else nothing.
  std::string hint_for(std::string_view full_name);
  std::vector<const OperatorEntry*> defined() const;
  // Kernels of an entry, for messages: "CPU (kernels.cpp:12), Autograd (...)".
  std::string kernels_of(const OperatorEntry& entry) const;
  size_t memory_in_use() const;
  // introspect.cpp
  std::vector<KernelInfo> kernel_infos(const OperatorEntry& entry) const;
  std::vector<DispatchInfo> dispatch_infos(const OperatorEntry& entry) const;
  std::string owner_name(const OperatorEntry& entry) const;
  LibraryToken* backend_owner(DeviceType t) const;
  LibraryToken* service_owner(DeviceType t, BackendService s) const;

  // Whether tables lead through detail::run_traced from now on.
  void set_tracing(bool on);
  // Rebuilds all tables, for a change of something that they depend on.
  void renew_tables();

  // Held while a library is being loaded, so that no other thread's look-up
  // commits its records.
  RecursiveForkMutex& load_mutex() { return load_mutex_; }

 private:
  friend class Loader;
  Registry();
  // The caller holds mutex_.
  std::string hint(std::string_view full_name) const;
  struct Fallbacks {
    KernelRecord* all = nullptr;
    KernelRecord* backend[kMaxBackends] = {};
  };

  void check(RegistrationBatch& batch);
  struct BatchIndex;
  void check_impl(RegistrationBatch& batch, RegistrationBatch::Impl& impl,
                  BatchIndex& index);
  void check_services(RegistrationBatch& batch) const;
  void apply(RegistrationBatch& batch);
  void add_kernel(OperatorEntry* e, const RegistrationBatch::Impl& impl,
                  ResolvedKey key);
  void define(OperatorEntry* e, const RegistrationBatch::Def& def);
  void undefine(OperatorEntry* e);
  OperatorEntry* entry_for(const std::string& full_name);
  KernelRecord** fallback_slot(ResolvedKey key);

  // withdraw.cpp
  class Withdrawal;
  std::string why_held(LibraryToken* token) const;
  [[noreturn]] void refuse_withdrawal(LibraryToken* token, std::string why,
                                      std::unique_lock<ForkMutex>& lock);
  template <class F>  // f(backend, service)
  void each_service_of(LibraryToken* token, const F& f);

  DispatchInfo dispatch_info(const OperatorEntry& e, ResolvedKey key) const;

  // dispatch_table.cpp
  const KernelRecord* own(const OperatorEntry& e, DispatchKey key,
                          int backend) const;
  const Kernel* kernel_for(const OperatorEntry& e, DispatchKey f,
                           int backend) const;
  bool in_device_call(const OperatorEntry& e, DispatchKey f, int backend,
                      const Kernel* k) const;
  const DispatchTable* build(const OperatorEntry& e) const;
  void publish(OperatorEntry* e);
  void publish_all();
  void free_retired();

  mutable ForkMutex mutex_;
  RecursiveForkMutex load_mutex_;
  bool committing_ = false;  // under load_mutex_
  bool tracing_ = false;
  EntryIndex entries_;  // inserted into under mutex_
  std::unordered_map<std::string, Site> namespaces_;
  Fallbacks fallbacks_[DispatchTable::kFunctionalities];
  LibraryToken* backend_owners_[kMaxBackends] = {};
  static constexpr int kServices = static_cast<int>(BackendService::kCount);
  LibraryToken* service_owners_[kMaxBackends][kServices] = {};
  std::vector<LibraryToken*> tokens_;
  std::vector<const DispatchTable*> retired_;
};

namespace detail {
// Waits until every call that was in flight has returned. False on time-out, or
// if this thread itself is in a call.
bool synchronize_calls(std::chrono::milliseconds timeout);

// In device_guard.cpp: the boxed form of CppSignature::device_entry.
void run_on_device(const Kernel& kernel, const OperatorEntry& op,
                   DispatchKeySet keys, Value* args, size_t num_args,
                   Value* results, size_t num_results);

// In trace.cpp, see Note [Tracing]. The context of `kernel` is the kernel that
// runs.
void run_traced(const Kernel& kernel, const OperatorEntry& op,
                DispatchKeySet keys, Value* args, size_t num_args,
                Value* results, size_t num_results);
// The kernel of a slot without tracing.
inline const Kernel* untraced(const Kernel* k) {
  return k != nullptr && k->boxed == &run_traced
             ? static_cast<const Kernel*>(k->context)
             : k;
}
// Starts the tracing that SWITCHYARD_TRACE asks for, once. Warns if it asks for
// nothing known.
void trace_by_environment();
}  // namespace detail

}  // namespace sy
