#include "frontend/compile/lists.h"

#include <algorithm>
#include <optional>

#include "c10/dispatch/capture.h"
#include "frontend/compile/heap.h"
#include "frontend/compile/reach.h"
#include "frontend/compile/stack.h"

namespace sy::compiling {

namespace {

constexpr size_t kWord = sizeof(void*);
constexpr size_t kHeader = 3 * kWord;
constexpr size_t kReach = 512;
constexpr size_t kMostElements = 8192;

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

// Leaves out a list that begins or ends within a sure one before it, or ends
// within one behind it. `all` is in the order of addresses.
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

std::vector<const void*> StackList::words() const {
  std::vector<const void*> all(size());
  if (!read_bytes(reinterpret_cast<const void*>(begin), all.data(),
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
