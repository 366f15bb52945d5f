#include "c10/dispatch_table.h"

#include <cstdlib>
#include <new>

#include "c10/kernel_watch.h"
#include "c10/registry.h"

namespace sy {

namespace {

constexpr bool per_backend(DispatchKey f) {
  return (kPerBackendFunctionality >> static_cast<int>(f)) & 1u;
}

// A table under construction: the kernels it must make for itself come last.
struct Plan {
  struct Made {
    const Kernel* real;
    bool guard;
  };
  std::vector<const Kernel*> slots;  // nullptr, a registered or a made one
  std::vector<int> made_of_slot;     // index into made, -1: slots[i] as it is
  std::vector<Made> made;

  void add(const Kernel* k, bool guard) {
    const bool make =
        k != nullptr && !k->is_fallthrough() && (guard || k->op == nullptr);
    int index = -1;
    if (make) {
      for (size_t i = 0; i < made.size(); ++i) {
        if (made[i].real == k && made[i].guard == guard) {
          index = static_cast<int>(i);
        }
      }
      if (index < 0) {
        index = static_cast<int>(made.size());
        made.push_back({k, guard});
      }
    }
    slots.push_back(k);
    made_of_slot.push_back(index);
  }
};

}  // namespace

const KernelRecord* Registry::own(const OperatorEntry& e, DispatchKey key,
                                  int backend) const {
  for (const KernelRecord* r = e.kernels_; r != nullptr; r = r->next) {
    if (r->key == ResolvedKey{key, backend}) return r;
  }
  return nullptr;
}

// The precedence of kernels, in one place.
const Kernel* Registry::kernel_for(const OperatorEntry& e, DispatchKey f,
                                   int backend) const {
  const auto kernel = [](const KernelRecord* r) { return &r->kernel; };
  if (const auto* r = own(e, f, backend)) return kernel(r);
  const bool runs = f == DispatchKey::Dense || f == DispatchKey::Undefined;
  const auto* composite_explicit =
      own(e, DispatchKey::CompositeExplicitAutograd, -1);
  if (runs && composite_explicit != nullptr) return kernel(composite_explicit);
  if (runs || f == DispatchKey::Autograd) {
    const auto* composite_implicit =
        own(e, DispatchKey::CompositeImplicitAutograd, -1);
    const bool backend_has_own =
        f == DispatchKey::Autograd &&
        (composite_explicit != nullptr ||
         own(e, DispatchKey::Dense, backend) != nullptr);
    if (composite_implicit != nullptr && !backend_has_own) {
      return kernel(composite_implicit);
    }
  }
  if (per_backend(f) && backend >= 0) {
    if (const auto* r = own(e, f, -1)) return kernel(r);  // alias
  }
  constexpr uint16_t kImpure = OperatorDef::kWrites | OperatorDef::kAliases;
  if (f == DispatchKey::Functionalize && (e.def_.flags & kImpure) == 0) {
    static const Kernel nothing_to_do = Kernel::fallthrough();
    return &nothing_to_do;
  }
  const Fallbacks& fallback = fallbacks_[static_cast<int>(f)];
  if (backend >= 0 && fallback.backend[backend] != nullptr) {
    return kernel(fallback.backend[backend]);
  }
  return fallback.all != nullptr ? kernel(fallback.all) : nullptr;
}

const DispatchTable* Registry::build(const OperatorEntry& e) const {
  const int backends = backend_count();
  Plan plan;
  DispatchTable head{};
  head.mask = 0xffffffffu | DispatchKeySet(DispatchKey::Undefined).bits();
  head.num_backends = static_cast<uint8_t>(backends);
  for (int i = 0; i < DispatchTable::kFunctionalities; ++i) {
    const auto f = static_cast<DispatchKey>(i);
    const bool row_possible = per_backend(f);
    std::vector<const Kernel*> row;
    for (int b = 0; b < (row_possible ? backends : 1); ++b) {
      row.push_back(kernel_for(e, f, row_possible ? b : -1));
    }
    bool uniform = true, skipped = true;
    for (const Kernel* k : row) {
      uniform = uniform && k == row[0];
      skipped = skipped && k != nullptr && k->is_fallthrough();
    }
    if (!skipped) head.mask |= DispatchKeySet(f).bits();
    if (!uniform) head.rows |= 1u << i;
    if (uniform) row.resize(1);
    if (skipped) row = {nullptr};
    head.first[i] = static_cast<uint8_t>(plan.slots.size());
    const bool guards =
        (f == DispatchKey::Dense || f == DispatchKey::Undefined) &&
        (e.def_.guard != nullptr || e.def_.guard_boxed != nullptr);
    for (const Kernel* k : row) {
      plan.add(k, guards && k != nullptr && (k->flags & Kernel::kGuarded) == 0);
    }
  }
  head.num_slots = static_cast<uint16_t>(plan.slots.size());
  // A guard keeps its bound kernel beside it; each slot may have one to trace.
  const bool traced = tracing_ || detail::kernel_watch() != nullptr;
  head.num_kernels = static_cast<uint16_t>(2 * plan.made.size() +
                                           (traced ? plan.slots.size() : 0));

  auto* table = static_cast<DispatchTable*>(std::malloc(head.bytes()));
  if (table == nullptr) throw std::bad_alloc();
  *table = head;
  Kernel* made = table->kernels();
  for (size_t i = 0; i < plan.made.size(); ++i) {
    Kernel* bound = new (made + 2 * i + 1) Kernel(*plan.made[i].real);
    bound->op = &e;
    Kernel* entry = new (made + 2 * i) Kernel(*bound);
    if (plan.made[i].guard) {
      entry->unboxed = e.def_.guard;
      entry->boxed = e.def_.guard_boxed;
      entry->context = bound;
    }
  }
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const Kernel* k = plan.made_of_slot[i] < 0
                          ? plan.slots[i]
                          : made + 2 * plan.made_of_slot[i];
    if (traced && k != nullptr && !k->is_fallthrough()) {
      Kernel* first = new (made + 2 * plan.made.size() + i) Kernel(
          Kernel::from_boxed(&detail::run_traced, const_cast<Kernel*>(k)));
      first->op = &e;
      k = first;
    }
    void* fn = k == nullptr || k->is_fallthrough() ? nullptr : k->unboxed;
    new (table->slots() + i) DispatchSlot{fn, k};
  }
  return table;
}

void Registry::publish(OperatorEntry* e) {
  const DispatchTable* before = e->table_.load(std::memory_order_relaxed);
  e->table_.store(build(*e), std::memory_order_release);
  if (before != nullptr) retired_.push_back(before);
}

void Registry::publish_all() {
  for (OperatorEntry* entry : entries_) publish(entry);
}

void Registry::set_tracing(bool on) {
  const std::lock_guard load_lock(load_mutex_);
  const std::lock_guard lock(mutex_);
  tracing_ = on;
  publish_all();
}

void Registry::renew_tables() {
  const std::lock_guard load_lock(load_mutex_);
  const std::lock_guard lock(mutex_);
  publish_all();
}

void Registry::free_retired() {
  for (const DispatchTable* t : retired_) {
    std::free(const_cast<DispatchTable*>(t));
  }
  retired_.clear();
}

}  // namespace sy
