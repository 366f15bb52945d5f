#include "c10/dispatch/entry_index.h"

#include <functional>

#include "c10/dispatch/dispatcher.h"

namespace sy {

namespace {

size_t hash(std::string_view name) noexcept {
  return std::hash<std::string_view>()(name);
}

}  // namespace

// Open addressing; at most half of the slots are taken.
struct EntryIndex::Table {
  explicit Table(size_t n)
      : mask(n - 1), slots(new std::atomic<OperatorEntry*>[n]()) {}
  const size_t mask;
  const std::unique_ptr<std::atomic<OperatorEntry*>[]> slots;
};

EntryIndex::EntryIndex() {
  tables_.push_back(std::make_unique<Table>(1024));
  table_.store(tables_.back().get(), std::memory_order_relaxed);
}

EntryIndex::~EntryIndex() = default;

OperatorEntry* EntryIndex::find(std::string_view name) const noexcept {
  const Table& t = *table_.load(std::memory_order_acquire);
  for (size_t i = hash(name);; ++i) {
    auto* const e = t.slots[i & t.mask].load(std::memory_order_acquire);
    if (e == nullptr || e->name() == name) return e;
  }
}

void EntryIndex::insert(OperatorEntry* entry) {
  entries_.push_back(entry);
  Table* t = table_.load(std::memory_order_relaxed);
  if (entries_.size() * 2 > t->mask) {
    tables_.push_back(std::make_unique<Table>((t->mask + 1) * 2));
    t = tables_.back().get();
    for (OperatorEntry* e : entries_) place(*t, e);
    table_.store(t, std::memory_order_release);
    return;
  }
  place(*t, entry);
}

void EntryIndex::place(Table& table, OperatorEntry* entry) noexcept {
  size_t i = hash(entry->name());
  while (table.slots[i & table.mask].load(std::memory_order_relaxed)) ++i;
  table.slots[i & table.mask].store(entry, std::memory_order_release);
}

size_t EntryIndex::bytes() const noexcept {
  size_t slots = 0;
  for (const auto& t : tables_) slots += t->mask + 1;
  return (slots + entries_.capacity()) * sizeof(void*);
}

}  // namespace sy
