#include "c10/dispatch/dispatch_table.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "c10/dispatch/kernel_watch.h"
#include "c10/dispatch/registry.h"

namespace sy {

namespace {

constexpr bool per_backend(DispatchKey f) {
  return (kPerBackendFunctionality >> static_cast<int>(f)) & 1u;
}

// A table under construction: the kernels it must make for itself come last.
// build() works in one plan under the registry's mutex, since a first commit
// makes thousands of tables. It is leaked, as the registry is: a trace of a
// whole process renews the tables when static objects are destroyed.
struct Plan {
  struct Made {
    const Kernel* real;
    bool guard;   // checks the contract first
    bool device;  // runs under a DeviceCall
    friend bool operator==(const Made&, const Made&) = default;
  };
  struct Slot {
    const Kernel* kernel;  // nullptr, a registered or a made one
    int made;              // index into made, -1: the kernel as it is
  };
  std::vector<Slot> slots;
  std::vector<Made> made;
  std::vector<const Kernel*> called;  // of each of `made`
  std::vector<const Kernel*> row;     // of one functionality

  void clear() {
    slots.clear();
    made.clear();
    called.clear();
  }

  void add(const Kernel* k, bool guard, bool device) {
    const bool make = k != nullptr && !k->is_fallthrough() &&
                      (guard || device || k->op == nullptr);
    int index = -1;
    if (make) {
      const Made one{k, guard, device};
      const auto found = std::find(made.begin(), made.end(), one);
      index = static_cast<int>(found - made.begin());
      if (found == made.end()) made.push_back(one);
    }
    slots.push_back({k, index});
  }
  // Each made one has the kernel bound to the operator, and what leads there.
  size_t num_kernels() const {
    size_t n = made.size();
    for (const Made& m : made) n += size_t{m.device} + size_t{m.guard};
    return n;
  }
};

// `entry` calls `inner` in its context.
void lead_to(Kernel* entry, Kernel* inner, void* unboxed, BoxedFunction boxed) {
  *entry = *inner;
  entry->unboxed = unboxed;
  entry->boxed = boxed;
  entry->context = inner;
}

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
    // A backend that has its own kernel of a composite would lose the gradient
    // if nothing else recorded it.
    const bool recorded = backend_has_own && own(e, f, -1) != nullptr;
    if (composite_implicit != nullptr && !recorded) {
      return kernel(composite_implicit);
    }
  }
  if (per_backend(f) && backend >= 0) {
    if (const auto* r = own(e, f, -1)) return kernel(r);  // alias
  }
  const Fallbacks& fallback = fallbacks_[static_cast<int>(f)];
  if (backend >= 0 && fallback.backend[backend] != nullptr) {
    return kernel(fallback.backend[backend]);
  }
  return fallback.all != nullptr ? kernel(fallback.all) : nullptr;
}

// True for the backend's own kernels, fallbacks included: other kernels call
// operators, which have device calls of their own.
bool Registry::in_device_call(const OperatorEntry& e, DispatchKey f,
                              int backend, const Kernel* k) const {
  if (f != DispatchKey::Dense || k == nullptr || k->is_fallthrough() ||
      e.has_flag(OperatorDef::kNoDeviceGuard) ||
      !detail::has_device_calls(device_type_of(backend))) {
    return false;
  }
  const KernelRecord* const mine = own(e, f, backend);
  const KernelRecord* const all =
      fallbacks_[static_cast<int>(f)].backend[backend];
  return (mine != nullptr && k == &mine->kernel) ||
         (all != nullptr && k == &all->kernel);
}

const DispatchTable* Registry::build(const OperatorEntry& e) const {
  const int backends = backend_count();
  static Plan& plan = *new Plan;
  plan.clear();
  std::vector<const Kernel*>& row = plan.row;
  DispatchTable head{};
  // A row has no slot for a backend that does not exist, which a thread may
  // have included.
  head.mask = ((uint64_t{1} << backends) - 1) |
              DispatchKeySet(DispatchKey::Undefined).bits();
  head.num_backends = static_cast<uint8_t>(backends);
  for (int b = 0; b < backends; ++b) {
    const KernelRecord* const r = own(e, DispatchKey::Dense, b);
    if (r != nullptr && !r->kernel.is_fallthrough()) head.own |= 1u << b;
  }
  int no_slot = -1;
  for (int i = 0; i < DispatchTable::kFunctionalities; ++i) {
    const auto f = static_cast<DispatchKey>(i);
    const bool row_possible = per_backend(f);
    row.clear();
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
    if (skipped) {  // the mask keeps calls away: all such share a slot
      if (no_slot < 0) {
        no_slot = static_cast<int>(plan.slots.size());
        plan.add(nullptr, false, false);
      }
      head.first[i] = static_cast<uint8_t>(no_slot);
      continue;
    }
    head.first[i] = static_cast<uint8_t>(plan.slots.size());
    const bool guards =
        (f == DispatchKey::Dense || f == DispatchKey::Undefined) &&
        (e.def_.guard != nullptr || e.def_.guard_boxed != nullptr);
    for (size_t b = 0; b < row.size(); ++b) {
      const Kernel* const k = row[b];
      plan.add(
          k, guards && k != nullptr && (k->flags & Kernel::kChecksItself) == 0,
          !uniform && in_device_call(e, f, static_cast<int>(b), k));
    }
  }
  head.num_slots = static_cast<uint16_t>(plan.slots.size());
  // Each slot may have a kernel that traces.
  const bool traced = tracing_ || detail::kernel_watch() != nullptr;
  head.num_kernels = static_cast<uint16_t>(plan.num_kernels() +
                                           (traced ? plan.slots.size() : 0));

  auto* table = static_cast<DispatchTable*>(std::malloc(head.bytes()));
  if (table == nullptr) throw std::bad_alloc();
  *table = head;
  Kernel* next = table->kernels();
  for (const Plan::Made& m : plan.made) {
    Kernel* bound = new (next++) Kernel(*m.real);
    bound->op = &e;
    Kernel* inner = bound;
    if (m.device) {
      const CppSignature* const s =
          bound->signature != nullptr ? bound->signature : e.def_.signature;
      inner = new (next++) Kernel;
      lead_to(inner, bound,
              s != nullptr && s->device_entry != nullptr ? s->device_entry()
                                                         : nullptr,
              &detail::run_on_device);
    }
    if (m.guard) {
      Kernel* const entry = new (next++) Kernel;
      lead_to(entry, inner, e.def_.guard, e.def_.guard_boxed);
      inner = entry;
    }
    plan.called.push_back(inner);
  }
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const auto [kernel, made] = plan.slots[i];
    const Kernel* k =
        made < 0 ? kernel : plan.called[static_cast<size_t>(made)];
    if (traced && k != nullptr && !k->is_fallthrough()) {
      Kernel* first = new (next++) Kernel(
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
