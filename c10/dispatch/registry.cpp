#include "c10/dispatch/registry.h"

#include <algorithm>
#include <unordered_map>

#include "c10/dispatch/signature_check.h"
#include "c10/schema/function_schema.h"
#include "c10/schema/nearest.h"
#include "c10/schema/parser.h"

// Note [Publishing tables]
// A commit checks everything first and then, under the mutex, links kernels to
// entries and builds each entry's table anew. A table is immutable and goes
// out by one atomic store, so a call sees the old or the new one. Old tables
// are freed after synchronize_calls(), when no call can hold them.

namespace sy {

Registry& Registry::singleton() {
  // Leaked: static destructors and late threads may still call operators.
  static auto* r = new Registry;
  return *r;
}

Registry::Registry() {
  static LibraryToken self("switchyard", nullptr);
  for (int i = 0; i < DispatchTable::kFunctionalities; ++i) {
    const auto k = static_cast<DispatchKey>(i);
    if (k == DispatchKey::Undefined || k == DispatchKey::Dense) continue;
    fallbacks_[static_cast<int>(k)].all = new KernelRecord{
        Kernel::fallthrough(), {k, -1}, &self, __FILE__, __LINE__};
  }
}

std::optional<ResolvedKey> resolve_key(std::string_view name) {
  for (const DispatchKeyInfo& info : kDispatchKeyInfo) {
    if (name == info.name && info.key != DispatchKey::Undefined &&
        info.key != DispatchKey::Dense) {
      return ResolvedKey{info.key, -1};
    }
  }
  for (const BackendInfo& b : backends()) {
    for (const DispatchKeyInfo& info : kDispatchKeyInfo) {
      if (info.prefix != nullptr && name == info.prefix + b.key) {
        return ResolvedKey{info.key, number_of(b.type)};
      }
    }
  }
  return std::nullopt;
}

std::string key_name(ResolvedKey key) {
  for (const DispatchKeyInfo& info : kDispatchKeyInfo) {
    if (info.key != key.key) continue;
    if (key.backend < 0) return info.name;
    return info.prefix + backend_key_name(device_type_of(key.backend));
  }
  return "?";
}

namespace {

std::string where(const Site& s) { return str("{}:{}", s.file, s.line); }

std::string all_key_names() {
  std::string out;
  const auto add = [&](const std::string& name) {
    out += (out.empty() ? "" : ", ") + name;
  };
  for (const BackendInfo& b : backends()) {
    if (b.present) add(b.key);
  }
  for (const DispatchKeyInfo& info : kDispatchKeyInfo) {
    if (info.key != DispatchKey::Undefined && info.key != DispatchKey::Dense) {
      add(info.name);
    }
  }
  return out;
}

}  // namespace

OperatorEntry* Registry::entry_for(const std::string& full_name) {
  if (OperatorEntry* e = entries_.find(full_name)) return e;
  auto* e = new OperatorEntry(full_name);
  entries_.insert(e);
  return e;
}

KernelRecord** Registry::fallback_slot(ResolvedKey key) {
  const auto f = static_cast<int>(key.key);
  if (f >= DispatchTable::kFunctionalities) return nullptr;
  return key.backend < 0 ? &fallbacks_[f].all
                         : &fallbacks_[f].backend[key.backend];
}

namespace {

// Keys by name. Thousands of kernels of a batch name the same few.
class KeyNames {
 public:
  std::optional<ResolvedKey> resolve(std::string_view name) {
    const auto [it, fresh] = keys_.try_emplace(name);
    if (fresh) it->second = resolve_key(name);
    return it->second;
  }

 private:
  std::unordered_map<std::string_view, std::optional<ResolvedKey>> keys_;
};

}  // namespace

// The index that check_impl() reads for each of some thousand kernels.
struct Registry::BatchIndex {
  struct Seen {
    const RegistrationBatch::Impl* impl;
    ResolvedKey key;
  };
  KeyNames keys;
  std::unordered_map<std::string_view, const RegistrationBatch::Def*> defs;
  std::unordered_map<std::string_view, std::vector<Seen>> impls;

  explicit BatchIndex(const RegistrationBatch& batch) {
    for (const auto& d : batch.defs) defs.emplace(d.full_name, &d);
  }
};

void Registry::check_impl(RegistrationBatch& batch,
                          RegistrationBatch::Impl& impl, BatchIndex& index) {
  const auto key = index.keys.resolve(impl.key);
  const std::string_view what =
      impl.full_name.empty() ? "fallback" : std::string_view(impl.full_name);
  if (!key) {
    batch.problem(impl.site, str("no dispatch key '{}' for {}; there are: {}",
                                 impl.key, what, all_key_names()));
    return;
  }
  if (!impl.kernel.valid()) {
    batch.problem(impl.site, str("{}: the kernel is empty", what));
    return;
  }
  std::vector<BatchIndex::Seen>& seen = index.impls[impl.full_name];
  for (const BatchIndex::Seen& other : seen) {
    if (other.key == *key) {
      batch.problem(impl.site,
                    str("{} has two kernels for {}: the other one is at {}",
                        what, impl.key, where(other.impl->site)));
    }
  }
  seen.push_back({&impl, *key});
  if (impl.full_name.empty()) {
    KernelRecord** slot = fallback_slot(*key);
    if (slot == nullptr ||
        (*slot != nullptr && !(*slot)->kernel.is_fallthrough())) {
      batch.problem(
          impl.site,
          slot == nullptr
              ? str("{} is an alias and has no fallback", impl.key)
              : str("a fallback for {} is registered at {}:{} by {}", impl.key,
                    (*slot)->file, (*slot)->line, (*slot)->owner->name()));
    }
    const bool boxed =
        impl.kernel.boxed != nullptr && impl.kernel.unboxed == nullptr;
    if (!boxed && !impl.kernel.is_fallthrough()) {
      batch.problem(impl.site, "a fallback must be a boxed kernel");
    }
    return;
  }

  const auto found = index.defs.find(impl.full_name);
  const RegistrationBatch::Def* def =
      found == index.defs.end() ? nullptr : found->second;
  OperatorEntry* entry = entries_.find(impl.full_name);
  if (def == nullptr && (entry == nullptr || !entry->defined())) {
    constexpr size_t kMostHints = 100;  // each reads all names
    const bool hints = batch.problems.size() < kMostHints;
    batch.problem(
        impl.site,
        str("no operator {} to register a {} kernel for{}{}", impl.full_name,
            impl.key, hints ? hint(impl.full_name) : std::string(),
            entry == nullptr ? "" : " (its library was unloaded)"));
    return;
  }
  if (def == nullptr) {
    if (const auto* other = own(*entry, key->key, key->backend)) {
      batch.problem(
          impl.site,
          str("{} has a kernel for {} already, registered at {}:{} by {}",
              impl.full_name, impl.key, other->file, other->line,
              other->owner->name()));
    }
  }
  if (impl.kernel.signature == nullptr) return;
  std::string wrong;
  if (def != nullptr && def->def.signature != nullptr) {
    wrong = signature_mismatch(*impl.kernel.signature, *def->def.signature);
  } else if (def != nullptr) {
    const ParseResult r = try_parse_schema(def->schema);
    if (!r.ok()) return;  // reported with the definition
    wrong = signature_mismatch(*impl.kernel.signature, *r.schema);
  } else if (entry->signature() != nullptr) {
    wrong = signature_mismatch(*impl.kernel.signature, *entry->signature());
  } else {
    wrong = signature_mismatch(*impl.kernel.signature, entry->schema());
  }
  if (!wrong.empty()) {
    batch.problem(impl.site, str("kernel of {} for {}: {}", impl.full_name,
                                 impl.key, wrong));
  }
}

void Registry::check(RegistrationBatch& batch) {
  for (const auto& [ns, site] : batch.namespaces) {
    if (const auto it = namespaces_.find(ns); it != namespaces_.end()) {
      batch.problem(site, str("namespace {} is owned by the block at {} of {}; "
                              "use SY_LIBRARY_FRAGMENT to add to it",
                              ns, where(it->second), it->second.owner->name()));
    }
    for (const auto& [other, other_site] : batch.namespaces) {
      if (&other < &ns && other == ns) {
        batch.problem(site, str("namespace {} is owned by the block at {}; use "
                                "SY_LIBRARY_FRAGMENT to add to it",
                                ns, where(other_site)));
      }
    }
  }
  std::unordered_map<std::string_view, const RegistrationBatch::Def*> seen;
  for (auto& d : batch.defs) {
    if (!d.schema.empty()) {
      const ParseResult r = parse_and_check_schema(d.schema);
      for (const SchemaError& e : r.errors) {
        batch.problem(d.site, str("schema '{}' column {}: {}", d.schema,
                                  e.offset() + 1, e.what()));
      }
      if (!r.errors.empty()) continue;
    }
    const auto [it, fresh] = seen.emplace(d.full_name, &d);
    const OperatorEntry* entry = entries_.find(d.full_name);
    if (!fresh) {
      batch.problem(d.site, str("{} is defined twice: also at {}", d.full_name,
                                where(it->second->site)));
    } else if (entry != nullptr && entry->defined()) {
      batch.problem(d.site, str("{} is already defined by {}", d.full_name,
                                entry->owner_->name()));
    }
  }
  BatchIndex index(batch);
  for (auto& impl : batch.impls) check_impl(batch, impl, index);
  check_services(batch);
}

void Registry::check_services(RegistrationBatch& batch) const {
  for (const auto& s : batch.services) {
    const auto key = resolve_key(s.key);
    if (!key || key->backend < 0 || key->key != DispatchKey::Dense) {
      batch.problem(s.site, str("m.service: {} is no backend", s.key));
      continue;
    }
    const LibraryToken* other =
        service_owners_[key->backend][static_cast<int>(s.service)];
    for (const auto& t : batch.services) {
      if (&t < &s && t.key == s.key && t.service == s.service) {
        other = t.site.owner;
      }
    }
    if (other != nullptr) {
      batch.problem(
          s.site,
          str("m.service: backend {} has one of that kind already, of {}",
              s.key, other->name()));
    }
  }
}

namespace {

// Whether a result may share memory with an argument that is not written.
bool shares_memory(const FunctionSchema& s) {
  const auto returns = s.returns();
  return std::any_of(returns.begin(), returns.end(), [](const Return& r) {
    return r.alias && !r.alias.is_write();
  });
}

}  // namespace

void Registry::define(OperatorEntry* e, const RegistrationBatch::Def& d) {
  e->def_ = d.def;
  e->owner_ = d.site.owner;
  e->schema_copy_ = d.schema;
  if (!d.schema.empty()) {
    const FunctionSchema s = parse_schema(d.schema);
    const auto args = s.arguments();
    for (size_t i = 0; i < args.size() && i < 64; ++i) {
      if (args[i].type.is_tensor_like()) e->def_.tensor_args |= 1ull << i;
    }
    e->num_args_ = static_cast<uint8_t>(args.size());
    e->num_results_ = static_cast<uint8_t>(s.returns().size());
    if (s.is_inplace()) e->def_.flags |= OperatorDef::kInplace;
    if (s.is_out()) e->def_.flags |= OperatorDef::kOut;
    if (s.is_mutable()) e->def_.flags |= OperatorDef::kWrites;
    if (shares_memory(s)) e->def_.flags |= OperatorDef::kAliases;
  } else {
    const CppSignature& s = *d.def.signature;
    for (int i = 0; i < s.num_args && i < 64; ++i) {
      if (s.args[i] >= ArgCode::Tensor && s.args[i] <= ArgCode::OptTensorList) {
        e->def_.tensor_args |= 1ull << i;
      }
    }
    e->num_args_ = s.num_args;
    e->num_results_ = s.num_results;
  }
  uint16_t& flags = e->def_.flags;
  if ((flags & (OperatorDef::kInplace | OperatorDef::kOut)) != 0) {
    flags |= OperatorDef::kWrites;
  }
  if ((flags & OperatorDef::kView) != 0) flags |= OperatorDef::kAliases;
  e->defined_.store(true, std::memory_order_release);
}

void Registry::undefine(OperatorEntry* e) {
  e->defined_.store(false, std::memory_order_release);
  e->def_ = OperatorDef{};
  e->owner_ = nullptr;
  e->schema_copy_.clear();
  delete e->schema_.exchange(nullptr);
  delete e->extra_.exchange(nullptr);
}

void Registry::add_kernel(OperatorEntry* e, const RegistrationBatch::Impl& impl,
                          ResolvedKey key) {
  auto* r = new KernelRecord{impl.kernel,     key,
                             impl.site.owner, impl.site.file,
                             impl.site.line,  e->kernels_};
  r->kernel.op = e;
  e->kernels_ = r;
}

void Registry::apply(RegistrationBatch& batch) {
  for (const auto& [ns, site] : batch.namespaces) namespaces_[ns] = site;
  for (const auto& s : batch.services) {
    const auto t = static_cast<DeviceType>(resolve_key(s.key)->backend);
    service_owners_[number_of(t)][static_cast<int>(s.service)] = s.site.owner;
    detail::set_backend_service(t, s.service, s.object);
  }
  std::vector<OperatorEntry*> touched;
  bool all = !batch.backends.empty();
  for (const auto& d : batch.defs) {
    OperatorEntry* e = entry_for(d.full_name);
    define(e, d);
    touched.push_back(e);
  }
  KeyNames keys;
  for (const auto& impl : batch.impls) {
    const ResolvedKey key = *keys.resolve(impl.key);
    if (impl.full_name.empty()) {
      KernelRecord** slot = fallback_slot(key);
      *slot = new KernelRecord{impl.kernel,     key,
                               impl.site.owner, impl.site.file,
                               impl.site.line,  *slot};
      (*slot)->kernel.flags |= Kernel::kFallback;
      all = true;
      continue;
    }
    OperatorEntry* e = entry_for(impl.full_name);
    add_kernel(e, impl, key);
    touched.push_back(e);
  }
  if (all) {
    publish_all();
    return;
  }
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  for (OperatorEntry* e : touched) publish(e);
}

void Registry::commit(RegistrationBatch& batch) {
  const std::lock_guard load_lock(load_mutex_);
  const std::lock_guard lock(mutex_);
  std::vector<DeviceType> fresh;
  for (const auto& b : batch.backends) {
    try {
      if (b.interface == nullptr) {
        batch.problem(
            b.site,
            str("backend {}: no devices; call m.device(name, &interface)",
                b.key));
        continue;
      }
      fresh.push_back(detail::register_backend(b.key, b.device, b.interface));
      backend_owners_[number_of(fresh.back())] = batch.owner();
    } catch (const Error& e) {
      batch.problem(b.site, e.message());
    }
  }
  check(batch);
  if (!batch.problems.empty()) {
    for (DeviceType t : fresh) {
      detail::unregister_backend(t);
      backend_owners_[number_of(t)] = nullptr;
    }
    std::string text =
        str("library {} was not registered; nothing has changed:",
            batch.owner()->name());
    for (const std::string& p : batch.problems) text += "\n  " + p;
    throw RegistrationError(std::move(text));
  }
  apply(batch);
}

std::string Registry::hint(std::string_view full_name) const {
  NearestName best(full_name);
  std::vector<std::string_view> names;
  for (const OperatorEntry* e : entries_) {
    if (e->defined()) names.push_back(e->name());
  }
  std::sort(names.begin(), names.end());  // ties fall the same way each time
  std::string overloads;
  constexpr int kShown = 8;
  int found = 0;
  for (std::string_view n : names) {
    if (n.starts_with(full_name) &&
        n.substr(full_name.size()).starts_with(".") && ++found <= kShown) {
      overloads += (found > 1 ? ", " : "") + std::string(n);
    }
    best.consider(n);
  }
  if (found > kShown) overloads += str(" and {} more", found - kShown);
  if (found > 0) return "; its overloads are " + overloads;
  return best.best().empty() ? "" : str("; did you mean {}?", best.best());
}

}  // namespace sy
