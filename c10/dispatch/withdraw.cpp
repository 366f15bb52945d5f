#include <utility>

#include "c10/dispatch/registry.h"

// Taking what a library registered out of the registry.

namespace sy {

template <class F>
void Registry::each_service_of(LibraryToken* token, const F& f) {
  for (int t = 0; t < kMaxBackends; ++t) {
    for (int s = 0; s < kServices; ++s) {
      if (service_owners_[t][s] == token)
        f(device_type_of(t), static_cast<BackendService>(s));
    }
  }
}

std::string Registry::why_held(LibraryToken* token) const {
  if (std::string h = token->holders(); !h.empty()) return h;
  for (const OperatorEntry* e : entries_) {
    if (e->owner_ != token) continue;
    for (const KernelRecord* r = e->kernels_; r != nullptr; r = r->next) {
      if (r->owner != token) {
        return str("library {}, which has a kernel for {} ({}:{})",
                   r->owner->name(), e->name(), r->file, r->line);
      }
    }
  }
  // Kernels for a fixed number are good without its library.
  for (int t = kNumFixedBackends; t < kMaxBackends; ++t) {
    if (backend_owners_[t] != token) continue;
    for (const OperatorEntry* e : entries_) {
      for (const KernelRecord* r = e->kernels_; r != nullptr; r = r->next) {
        if (r->key.backend == t && r->owner != token) {
          return str("library {}, which has a kernel for {} on {}",
                     r->owner->name(), e->name(),
                     backend_key_name(device_type_of(t)));
        }
      }
    }
  }
  return "";
}

// All that a library registered. The caller holds mutex_.
class Registry::Withdrawal {
 public:
  Withdrawal(Registry& registry, LibraryToken* token)
      : r_(registry), token_(token) {}
  // Calls that begin from now on find none of it.
  void take();
  void put_back();
  // Frees it; no call is in flight.
  void finish();

 private:
  void take_kernels();
  void take_fallbacks();
  void take_services();
  void publish_changes();

  // An entry that changes, with the state to put back if calls do not drain.
  struct Undo {
    OperatorEntry* entry;
    KernelRecord* kernels;
    bool was_defined;
  };
  struct Link {
    KernelRecord* record;
    KernelRecord* next;
  };
  struct Service {
    DeviceType backend;
    BackendService service;
    void* object;
  };

  Registry& r_;
  LibraryToken* const token_;
  std::vector<Undo> undo_;
  std::vector<KernelRecord*> gone_;
  std::vector<Link> links_;
  std::vector<std::pair<KernelRecord**, KernelRecord*>> fallbacks_;
  std::vector<Service> services_;
};

void Registry::Withdrawal::take() {
  take_kernels();
  take_fallbacks();
  publish_changes();
  take_services();
}

void Registry::Withdrawal::take_kernels() {
  for (OperatorEntry* e : r_.entries_) {
    const bool defined_here = e->owner_ == token_;
    const size_t before = gone_.size();
    for (KernelRecord* r = e->kernels_; r != nullptr; r = r->next) {
      if (r->owner == token_) gone_.push_back(r);
    }
    if (gone_.size() == before && !defined_here) continue;
    undo_.push_back({e, e->kernels_, defined_here});
  }
  // Filters each list in place.
  for (const Undo& u : undo_) {
    KernelRecord** tail = &u.entry->kernels_;
    for (KernelRecord* r = u.kernels; r != nullptr;) {
      KernelRecord* next = r->next;
      links_.push_back({r, next});
      if (r->owner != token_) {
        *tail = r;
        tail = &r->next;
      }
      r = next;
    }
    *tail = nullptr;
    if (u.was_defined) {
      u.entry->defined_.store(false, std::memory_order_release);
    }
  }
}

void Registry::Withdrawal::take_fallbacks() {
  const auto take = [&](KernelRecord*& slot) {
    if (slot == nullptr || slot->owner != token_) return;
    fallbacks_.emplace_back(&slot, slot);
    slot = slot->next;
  };
  for (auto& f : r_.fallbacks_) {
    take(f.all);
    for (auto*& b : f.backend) take(b);
  }
}

void Registry::Withdrawal::take_services() {
  r_.each_service_of(token_, [&](DeviceType t, BackendService s) {
    services_.push_back({t, s, backend_service(t, s)});
    detail::set_backend_service(t, s, nullptr);
  });
}

void Registry::Withdrawal::publish_changes() {
  if (!fallbacks_.empty()) {
    r_.publish_all();
  } else {
    for (const Undo& u : undo_) r_.publish(u.entry);
  }
}

void Registry::Withdrawal::put_back() {
  for (const Link& l : links_) l.record->next = l.next;
  for (const Undo& u : undo_) {
    u.entry->kernels_ = u.kernels;
    if (u.was_defined) {
      u.entry->defined_.store(true, std::memory_order_release);
    }
  }
  for (auto& [slot, record] : fallbacks_) *slot = record;
  for (const Service& s : services_) {
    detail::set_backend_service(s.backend, s.service, s.object);
  }
  publish_changes();
}

void Registry::Withdrawal::finish() {
  for (const Undo& u : undo_) {
    if (u.was_defined) r_.undefine(u.entry);
  }
  for (const Service& s : services_) {
    detail::service_gone(s.backend, s.service);
    r_.service_owners_[number_of(s.backend)][static_cast<int>(s.service)] =
        nullptr;
  }
  for (int t = 0; t < kMaxBackends; ++t) {
    if (r_.backend_owners_[t] != token_) continue;
    detail::unregister_backend(device_type_of(t));
    r_.backend_owners_[t] = nullptr;
  }
  std::erase_if(r_.namespaces_,
                [&](const auto& n) { return n.second.owner == token_; });
  r_.free_retired();
  for (KernelRecord* r : gone_) delete r;
  for (auto& [slot, record] : fallbacks_) delete record;
}

void Registry::refuse_withdrawal(LibraryToken* token, std::string why,
                                 std::unique_lock<ForkMutex>& lock) {
  std::vector<const HolderReport*> reports;
  each_service_of(token, [&](DeviceType t, BackendService s) {
    if (s != BackendService::kHolders) return;
    reports.push_back(static_cast<HolderReport*>(backend_service(t, s)));
  });
  // A backend takes its own lock, under which calls may look operators up.
  lock.unlock();
  for (const HolderReport* r : reports) {
    const std::string lines = r->describe();
    if (!lines.empty()) why += "\n" + lines;
  }
  fail(ErrorKind::Error, "library {} cannot be unloaded: held by {}",
       token->name(), why);
}

void Registry::withdraw(LibraryToken* token,
                        std::chrono::milliseconds timeout) {
  const std::lock_guard load_lock(load_mutex_);
  std::unique_lock lock(mutex_);
  if (std::string h = why_held(token); !h.empty()) {
    refuse_withdrawal(token, std::move(h), lock);
  }
  Withdrawal withdrawal(*this, token);
  withdrawal.take();
  // Calls that are to drain may look operators up meanwhile.
  lock.unlock();
  const bool drained = detail::synchronize_calls(timeout);
  lock.lock();
  std::string held = drained ? token->holders() : "a call in flight";
  if (!held.empty()) {
    withdrawal.put_back();
    refuse_withdrawal(token, std::move(held), lock);
  }
  withdrawal.finish();
}

}  // namespace sy
