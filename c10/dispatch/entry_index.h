#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace sy {

class OperatorEntry;

// Operator entries by name, internal to c10. Entries are only ever added:
// look-ups take no lock and may run while one thread inserts. Iteration is for
// that thread.
class EntryIndex {
 public:
  EntryIndex();
  ~EntryIndex();
  EntryIndex(const EntryIndex&) = delete;
  EntryIndex& operator=(const EntryIndex&) = delete;

  OperatorEntry* find(std::string_view name) const noexcept;
  // The index must not have the entry's name yet.
  void insert(OperatorEntry* entry);

  auto begin() const noexcept { return entries_.begin(); }
  auto end() const noexcept { return entries_.end(); }
  // Bytes of the tables, outgrown ones included.
  size_t bytes() const noexcept;

 private:
  struct Table;
  void place(Table& table, OperatorEntry* entry) noexcept;

  std::vector<OperatorEntry*> entries_;
  std::atomic<Table*> table_;
  // Outgrown tables stay for the look-ups that may be reading them; together
  // they are no larger than the present one.
  std::vector<std::unique_ptr<Table>> tables_;
};

}  // namespace sy
