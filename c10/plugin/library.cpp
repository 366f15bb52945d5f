#include "c10/plugin/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>

#include "c10/dispatch/registry.h"
#include "c10/schema/function_schema.h"

namespace sy {

namespace {

// Newest first. Constant-initialised: static initialisers of other files push
// to it before any of ours has run.
constinit std::atomic<LibraryRecord*> pending{nullptr};
// Some were taken from the list, and their operators are not there yet.
constinit std::atomic<bool> are_being_committed{false};

std::string library_name_of(const void* dso) {
  Dl_info info{};
  if (dladdr(dso, &info) != 0 && info.dli_fname != nullptr) {
    const std::string_view path = info.dli_fname;
    return std::string(path.substr(path.rfind('/') + 1));
  }
  return "program";
}

}  // namespace

namespace detail {
void record_library(LibraryRecord* record) noexcept {
  record->next = pending.load(std::memory_order_relaxed);
  while (!pending.compare_exchange_weak(record->next, record,
                                        std::memory_order_release)) {
  }
}
}  // namespace detail

std::vector<LibraryRecord*> Registry::take_pending() {
  std::vector<LibraryRecord*> out;
  for (LibraryRecord* r = pending.exchange(nullptr); r != nullptr;
       r = r->next) {
    out.push_back(r);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

void Registry::commit_pending() {
  if (SY_LIKELY(pending.load(std::memory_order_acquire) == nullptr &&
                !are_being_committed.load(std::memory_order_acquire))) {
    return;
  }
  const std::lock_guard lock(load_mutex_);
  if (committing_) return;  // a body or an initialiser looks an operator up
  committing_ = true;
  are_being_committed = true;
  const std::vector<LibraryRecord*> records = take_pending();
  std::vector<const void*> order;
  for (const LibraryRecord* r : records) {
    if (std::find(order.begin(), order.end(), r->dso) == order.end()) {
      order.push_back(r->dso);
    }
  }
  std::string problems;
  for (const void* dso : order) {
    std::vector<LibraryRecord*> own;
    std::copy_if(records.begin(), records.end(), std::back_inserter(own),
                 [&](const LibraryRecord* r) { return r->dso == dso; });
    try {
      commit_records(own, token_of(dso, library_name_of(dso)));
    } catch (const Error& e) {
      problems += (problems.empty() ? "" : "\n") + e.message();
    }
  }
  committing_ = false;
  are_being_committed = false;
  if (!problems.empty()) throw RegistrationError(std::move(problems));
  detail::trace_by_environment();
}

void Registry::commit_records(const std::vector<LibraryRecord*>& records,
                              LibraryToken* token) {
  RegistrationBatch batch(token);
  // Backends name keys and definitions name operators that kernels refer to.
  for (LibraryKind kind : {LibraryKind::Backend, LibraryKind::Def,
                           LibraryKind::Fragment, LibraryKind::Impl}) {
    for (const LibraryRecord* r : records) {
      if (r->kind == kind) batch.run(*r);
    }
  }
  commit(batch);
}

LibraryToken* Registry::token_of(const void* dso, const std::string& name) {
  const std::lock_guard lock(mutex_);
  for (LibraryToken* t : tokens_) {
    if (t->dso() == dso && dso != nullptr) return t;
  }
  tokens_.push_back(new LibraryToken(name, dso));
  return tokens_.back();
}

LibraryToken* Registry::new_token(std::string name, const void* dso) {
  const std::lock_guard lock(mutex_);
  tokens_.push_back(new LibraryToken(std::move(name), dso));
  return tokens_.back();
}

LibraryToken* Registry::backend_owner(DeviceType t) const {
  return backend_owners_[number_of(t)];
}

LibraryToken* plugin_of_backend(DeviceType t) noexcept {
  if (t <= kMeta || number_of(t) >= kMaxBackends) return nullptr;
  return Registry::singleton().backend_owner(t);
}

LibraryToken* Registry::service_owner(DeviceType t, BackendService s) const {
  return service_owners_[number_of(t)][static_cast<int>(s)];
}

LibraryToken* owner_of_service(DeviceType device, BackendService s) noexcept {
  return Registry::singleton().service_owner(device, s);
}

LibraryToken* Registry::find_token(const void* dso) const {
  const std::lock_guard lock(mutex_);
  for (LibraryToken* t : tokens_) {
    if (t->dso() == dso) return t;
  }
  return nullptr;
}

LibraryToken* plugin_of(const void* dso) noexcept {
  return dso == &__dso_handle ? nullptr : Registry::singleton().find_token(dso);
}

OperatorEntry* Registry::look_up(std::string_view full_name) {
  commit_pending();
  return entries_.find(full_name);
}

std::string Registry::hint_for(std::string_view full_name) {
  const std::lock_guard lock(mutex_);
  return hint(full_name);
}

std::vector<const OperatorEntry*> Registry::defined() const {
  const std::lock_guard lock(mutex_);
  std::vector<const OperatorEntry*> out;
  for (const OperatorEntry* e : entries_) {
    if (e->defined()) out.push_back(e);
  }
  std::sort(out.begin(), out.end(),
            [](const auto* a, const auto* b) { return a->name() < b->name(); });
  return out;
}

std::string Registry::kernels_of(const OperatorEntry& entry) const {
  const std::lock_guard lock(mutex_);
  std::string out;
  for (const KernelRecord* r = entry.kernels_; r != nullptr; r = r->next) {
    out += str("{}{} ({}:{})", out.empty() ? "" : ", ", key_name(r->key),
               std::string_view(r->file).substr(
                   std::string_view(r->file).rfind('/') + 1),
               r->line);
  }
  return out;
}

size_t Registry::memory_in_use() const {
  const std::lock_guard lock(mutex_);
  size_t bytes = entries_.bytes();
  for (const OperatorEntry* e : entries_) {
    bytes += sizeof(OperatorEntry);
    for (const std::string* s : {&e->name_, &e->schema_copy_}) {
      if (s->capacity() > 15) bytes += s->capacity() + 1;
    }
    bytes += e->table().bytes();
    if (const FunctionSchema* s = e->schema_.load()) {
      bytes += sizeof *s + s->heap_bytes();
    }
    for (const KernelRecord* r = e->kernels_; r != nullptr; r = r->next) {
      bytes += sizeof *r;
    }
  }
  return bytes;
}

std::string LibraryToken::holders() const {
  static constexpr const char* kNames[kHolders] = {"storage", "graph node",
                                                   "hook", "object"};
  std::string out;
  for (int h = 0; h < kHolders; ++h) {
    const int64_t n = held(static_cast<Holder>(h));
    if (n == 0) continue;
    out += str("{}{} {}{}", out.empty() ? "" : ", ", n, kNames[h],
               n == 1 ? "" : "s");
  }
  return out;
}

// ---- blocks -----------------------------------------------------------------

void RegistrationBatch::problem(const Site& site, const std::string& text) {
  problems.push_back(str("{}:{}: {}", site.file, site.line, text));
}

void RegistrationBatch::run(const LibraryRecord& record,
                            void (*body)(Library&, void*), void* context) {
  if (record.kind == LibraryKind::Def) {
    namespaces.emplace_back(record.ns, site(record));
  }
  Library m;
  m.batch_ = this;
  m.record_ = &record;
  try {
    if (body != nullptr) {
      body(m, context);
    } else {
      record.body(m);
    }
  } catch (const std::exception& e) {
    problem(site(record), str("the body threw: {}", e.what()));
  } catch (...) {
    problem(site(record), "the body threw something that is no std::exception");
  }
}

void RegistrationBatch::run(const LibraryRecord& record) {
  run(record, nullptr, nullptr);
}

namespace {

std::string qualified(std::string_view ns, std::string_view name) {
  std::string out;
  out.reserve(ns.size() + 2 + name.size());
  out.append(ns).append("::").append(name);
  return out;
}

std::string full_name_of(const LibraryRecord& record, std::string_view name) {
  return name.find("::") != std::string_view::npos ? std::string(name)
                                                   : qualified(record.ns, name);
}

}  // namespace

void Library::def(std::string_view schema) {
  if (record_->kind != LibraryKind::Def &&
      record_->kind != LibraryKind::Fragment) {
    batch_->problem(batch_->site(*record_),
                    "m.def belongs in SY_LIBRARY or SY_LIBRARY_FRAGMENT");
    return;
  }
  const std::string_view name = schema.substr(0, schema.find('('));
  const std::string full_name = full_name_of(*record_, name);
  if (full_name.compare(0, full_name.find("::"), record_->ns) != 0) {
    batch_->problem(batch_->site(*record_),
                    str("{} is defined in a block for namespace {}", full_name,
                        record_->ns));
    return;
  }
  RegistrationBatch::Def d;
  d.full_name = full_name;
  d.schema = str("{}{}", full_name, schema.substr(name.size()));
  d.site = batch_->site(*record_);
  batch_->defs.push_back(std::move(d));
}

void Library::def(std::string_view schema, const Kernel& kernel) {
  def(schema);
  const std::string_view name = schema.substr(0, schema.find('('));
  batch_->impls.push_back({full_name_of(*record_, name),
                           "CompositeImplicitAutograd", kernel,
                           batch_->site(*record_)});
}

void Library::def_static(const OperatorDef* defs, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const std::string_view schema = defs[i].schema;
    RegistrationBatch::Def d;
    d.def = defs[i];
    d.full_name = qualified(record_->ns, schema.substr(0, schema.find('(')));
    d.site = batch_->site(*record_);
    batch_->defs.push_back(std::move(d));
  }
}

void Library::impl(std::string_view name, const Kernel& kernel) {
  if (record_->kind != LibraryKind::Impl) {
    batch_->problem(batch_->site(*record_),
                    "m.impl belongs in SY_LIBRARY_IMPL");
    return;
  }
  batch_->impls.push_back({full_name_of(*record_, name), record_->key, kernel,
                           batch_->site(*record_)});
}

void Library::fallback(const Kernel& kernel) {
  if (record_->kind != LibraryKind::Impl ||
      std::string_view(record_->ns) != "_") {
    batch_->problem(batch_->site(*record_),
                    "m.fallback belongs in SY_LIBRARY_IMPL(_, Key, m)");
    return;
  }
  batch_->impls.push_back(
      {std::string(), record_->key, kernel, batch_->site(*record_)});
}

void Library::service(BackendService s, void* object) {
  const bool backend = record_->kind == LibraryKind::Backend ||
                       (record_->kind == LibraryKind::Impl &&
                        std::string_view(record_->ns) == "_");
  if (!backend || s >= BackendService::kCount || object == nullptr) {
    batch_->problem(batch_->site(*record_),
                    "m.service takes an object and belongs in SY_BACKEND or "
                    "SY_LIBRARY_IMPL(_, Key, m)");
    return;
  }
  batch_->services.push_back({record_->key, s, object, batch_->site(*record_)});
}

void Library::device(std::string_view name, DeviceInterface* interface) {
  if (record_->kind != LibraryKind::Backend) {
    batch_->problem(batch_->site(*record_), "m.device belongs in SY_BACKEND");
    return;
  }
  batch_->backends.push_back(
      {record_->key, std::string(name), interface, batch_->site(*record_)});
}

// ---- registrations at run time ----------------------------------------------

RegistrationHandle::RegistrationHandle(RegistrationHandle&& o) noexcept
    : token_(std::exchange(o.token_, nullptr)) {}

RegistrationHandle& RegistrationHandle::operator=(
    RegistrationHandle&& o) noexcept {
  std::swap(token_, o.token_);
  return *this;
}

RegistrationHandle::~RegistrationHandle() {
  try {
    reset();
  } catch (const Error&) {
    // Still held: the registration stays, as its holders need it.
  }
}

void RegistrationHandle::reset() {
  if (token_ == nullptr) return;
  Registry::singleton().withdraw(token_, std::chrono::seconds(10));
  token_ = nullptr;
}

RegistrationHandle register_library(LibraryKind kind, std::string_view ns,
                                    std::string_view key,
                                    void (*body)(Library&, void*),
                                    void* context) {
  init();
  const std::string ns_text(ns), key_text(key);
  LibraryRecord record{kind,    ns_text.c_str(), key_text.c_str(),
                       nullptr, "(run time)",    0,
                       nullptr};
  LibraryToken* token = Registry::singleton().new_token("(run time)", nullptr);
  RegistrationBatch batch(token);
  batch.run(record, body, context);
  Registry::singleton().commit(batch);
  RegistrationHandle handle;
  handle.token_ = token;
  return handle;
}

}  // namespace sy
