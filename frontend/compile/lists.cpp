#include "frontend/compile/lists.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "c10/capture.h"
#include "frontend/compile/reach.h"
#include "frontend/compile/stack.h"

namespace sy::compiling {

namespace {

constexpr size_t kWord = sizeof(void*);
constexpr size_t kHeader = 3 * kWord;
constexpr size_t kReach = 512;
constexpr size_t kMostElements = 8192;

// Whether the memory from `begin` to `limit` is a block that glibc's malloc has
// given out, as that of a std::vector is. The word in front of a block has its
// size, with flags in the last bits: 1, the block before is in use; 2, mapped
// alone, as those are that are larger than what is looked at. The next block
// follows.
enum class Block { kUnknown, kHolds, kOther };

Block glibc_block(uintptr_t begin, uintptr_t limit) {
  constexpr uintptr_t kFlags = 7, kBeforeInUse = 1, kMapped = 2;
  constexpr uintptr_t kWord = sizeof(uintptr_t), kUnit = 2 * kWord;
  const auto is_size = [](uintptr_t word) {
    const uintptr_t size = word & ~kFlags;
    return size >= 2 * kUnit && size % kUnit == 0;
  };
  const auto read = [](uintptr_t at, uintptr_t* word) {
    return read_memory(reinterpret_cast<const void*>(at), word, kWord);
  };
  uintptr_t own = 0, next = 0;
  if (begin % kUnit != 0 || !read(begin - kWord, &own) || !is_size(own)) {
    return Block::kOther;
  }
  if ((own & kMapped) != 0) return Block::kOther;
  const uintptr_t bytes = (own & ~kFlags) - kWord;  // that it may hold
  const bool holds =
      bytes >= limit - begin && bytes - (limit - begin) <= 2 * kUnit &&
      read(begin + bytes, &next) && is_size(next) && (next & kBeforeInUse) != 0;
  return holds ? Block::kHolds : Block::kOther;
}

Block glibc_block(const std::vector<void*>& v) {
  const auto begin = reinterpret_cast<uintptr_t>(v.data());
  return glibc_block(begin, begin + v.capacity() * sizeof(void*));
}

Block block_at(uintptr_t begin, uintptr_t limit) {
  return has_glibc_malloc() ? glibc_block(begin, limit) : Block::kUnknown;
}

std::optional<StackList> list_at(const char* at, const void* frame) {
  if (!is_on_stack(at, kHeader, frame)) return std::nullopt;
  uintptr_t words[3];
  WatchedBytes::take(at, words, kHeader);
  StackList l{at, words[0], words[1], words[2]};
  if (!may_be_pointer(l.begin) || l.begin >= l.end || l.end > l.limit ||
      (l.end - l.begin) % kWord != 0 || l.size() > kMostElements) {
    return std::nullopt;
  }
  const Block block = block_at(l.begin, l.limit);
  if (block == Block::kOther) return std::nullopt;
  l.sure = block == Block::kHolds;
  return l;
}

// Without what begins or ends within a sure one before it, or ends within one
// behind it. `all` is in the order of addresses.
std::vector<StackList> without_parts(const std::vector<StackList>& all) {
  std::vector<StackList> lists;
  for (const StackList& l : all) {
    const auto meets = [&](const StackList& other) {
      return overlap(l.header, kHeader, other.header, kHeader);
    };
    if (!lists.empty() && lists.back().sure && meets(lists.back())) continue;
    if (l.sure) std::erase_if(lists, meets);
    lists.push_back(l);
  }
  return lists;
}

}  // namespace

bool has_glibc_malloc() {
  // As in main_heap().
  enum Answer { kUnknown, kYes, kNo };
  static constinit std::atomic<Answer> known{kUnknown};
  Answer answer = known.load(std::memory_order_relaxed);
  if (answer == kUnknown) {
    const std::vector<void*> few(5), more(300);
    const bool is_glibc =
        glibc_block(few) == Block::kHolds && glibc_block(more) == Block::kHolds;
    answer = is_glibc ? kYes : kNo;
    known.store(answer, std::memory_order_relaxed);
  }
  return answer == kYes;
}

std::vector<const void*> StackList::words() const {
  std::vector<const void*> all(size());
  if (!read_memory(reinterpret_cast<const void*>(begin), all.data(),
                   all.size() * kWord)) {
    all.clear();
  }
  return all;
}

std::vector<StackList> stack_lists(const Arguments& a) {
  const void* const frame = __builtin_frame_address(0);
  std::vector<StackList> lists;
  for (const uintptr_t word : words_of(a)) {
    if (!may_be_pointer(word) || word % alignof(void*) != 0) continue;
    const auto* const first = reinterpret_cast<const char*>(word);
    for (const char* at = first; at < first + kReach; at += kWord) {
      if (!is_on_stack(at, kWord, frame)) break;
      if (overlap(at, 1, a.closure, a.closure_bytes)) continue;
      const std::optional<StackList> l = list_at(at, frame);
      if (l) lists.push_back(*l);
    }
  }
  const auto is_at = [](const StackList& x, const StackList& y) {
    return x.header == y.header;
  };
  std::sort(lists.begin(), lists.end(),
            [](const auto& x, const auto& y) { return x.header < y.header; });
  lists.erase(std::unique(lists.begin(), lists.end(), is_at), lists.end());
  return without_parts(lists);
}

}  // namespace sy::compiling
