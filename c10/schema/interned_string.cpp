#include "c10/schema/interned_string.h"

#include <cstring>
#include <mutex>
#include <new>
#include <vector>

namespace sy {
namespace {

using Rep = InternedString::Rep;

std::uint32_t hash_of(std::string_view text) {
  std::uint32_t hash = 2166136261u;
  for (char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  }
  return hash;
}

// Open addressing over strings that are carved from blocks and never freed.
class StringTable {
 public:
  StringTable() : slots_(4096, nullptr) {}

  const Rep* intern(std::string_view text) {
    const std::uint32_t hash = hash_of(text);
    std::lock_guard lock(mutex_);
    std::size_t slot = find_slot(text, hash);
    if (slots_[slot]) return slots_[slot];
    if (2 * (count_ + 1) > slots_.size()) {
      grow();
      slot = find_slot(text, hash);
    }
    const Rep* rep = store(text, hash);
    slots_[slot] = rep;
    ++count_;
    return rep;
  }

 private:
  std::size_t find_slot(std::string_view text, std::uint32_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    while (const Rep* rep = slots_[slot]) {
      if (rep->hash == hash && std::string_view(rep->text(), rep->size) == text)
        break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  void grow() {
    std::vector<const Rep*> old(2 * slots_.size(), nullptr);
    old.swap(slots_);
    const std::size_t mask = slots_.size() - 1;
    for (const Rep* rep : old) {
      if (!rep) continue;
      std::size_t slot = rep->hash & mask;
      while (slots_[slot]) slot = (slot + 1) & mask;
      slots_[slot] = rep;
    }
  }

  const Rep* store(std::string_view text, std::uint32_t hash) {
    constexpr std::size_t kBlock = 16384;
    constexpr std::size_t kAlign = alignof(Rep);
    const std::size_t bytes =
        (sizeof(Rep) + text.size() + 1 + kAlign - 1) / kAlign * kAlign;
    if (bytes > left_) {
      left_ = bytes > kBlock ? bytes : kBlock;
      next_ = static_cast<char*>(::operator new(left_));
    }
    Rep* rep = new (next_) Rep{static_cast<std::uint32_t>(text.size()), hash};
    char* copy = reinterpret_cast<char*>(rep + 1);
    std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = '\0';
    next_ += bytes;
    left_ -= bytes;
    return rep;
  }

  std::mutex mutex_;
  std::vector<const Rep*> slots_;
  std::size_t count_ = 0;
  char* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace

InternedString::InternedString(std::string_view text) {
  if (text.empty()) return;
  // Leaked: names outlive every static destructor that may print them.
  static StringTable* const table = new StringTable;
  rep_ = table->intern(text);
}

}  // namespace sy
