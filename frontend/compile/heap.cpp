#include "frontend/compile/heap.h"

#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <vector>

#include "c10/dispatch/capture.h"
#include "c10/macros.h"

namespace sy::compiling {

namespace {

constexpr uintptr_t kWord = sizeof(uintptr_t), kUnit = 2 * kWord;
// The word in front of a block has its size, with flags in the last bits: 1,
// the block before is in use; 2, mapped alone, as those are that are larger
// than what is looked at. The next block follows.
constexpr uintptr_t kFlags = 7, kBeforeInUse = 1, kMapped = 2;

// The begin of the memory that the program's break ends; UINTPTR_MAX if there
// is none.
uintptr_t heap_begin() noexcept {
  unsigned long begin = 0;
  char line[512];
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
    if (std::strstr(line, "[heap]") == nullptr) continue;
    std::sscanf(line, "%lx", &begin);
    break;
  }
  if (maps != nullptr) std::fclose(maps);
  return begin == 0 ? UINTPTR_MAX : uintptr_t{begin};
}

bool is_size(uintptr_t word) {
  const uintptr_t size = word & ~kFlags;
  return size >= 2 * kUnit && size % kUnit == 0;
}

bool read_word(uintptr_t at, uintptr_t* word) {
  return read_bytes(reinterpret_cast<const void*>(at), word, kWord);
}

Block glibc_block(uintptr_t begin, uintptr_t limit) {
  uintptr_t own = 0, next = 0;
  if (begin % kUnit != 0 || !read_word(begin - kWord, &own) || !is_size(own) ||
      (own & kMapped) != 0) {
    return Block::kOther;
  }
  const uintptr_t bytes = (own & ~kFlags) - kWord;  // that it may hold
  const bool holds = bytes >= limit - begin &&
                     bytes - (limit - begin) <= 2 * kUnit &&
                     read_word(begin + bytes, &next) && is_size(next) &&
                     (next & kBeforeInUse) != 0;
  return holds ? Block::kHolds : Block::kOther;
}

bool is_glibc_block(const std::vector<void*>& v) {
  const auto begin = reinterpret_cast<uintptr_t>(v.data());
  return glibc_block(begin, begin + v.capacity() * sizeof(void*)) ==
         Block::kHolds;
}

}  // namespace

bool read_memory(const void* from, void* to, size_t bytes) noexcept {
  iovec local{to, bytes}, remote{const_cast<void*>(from), bytes};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) ==
         static_cast<ssize_t>(bytes);
}

MainHeap main_heap() noexcept {
  // No static of a function: its lock might be held by a thread that a child of
  // fork does not have.
  static constinit std::atomic<uintptr_t> known{0};
  uintptr_t begin = known.load(std::memory_order_relaxed);
  if (SY_UNLIKELY(begin == 0)) {
    begin = heap_begin();
    known.store(begin, std::memory_order_relaxed);
  }
  return {begin, reinterpret_cast<uintptr_t>(sbrk(0))};
}

bool read_bytes(const void* from, void* to, size_t bytes) noexcept {
  if (!main_heap().has(from, bytes)) return read_memory(from, to, bytes);
  WatchedBytes::take(from, to, bytes);
  return true;
}

bool has_glibc_malloc() {
  // As in main_heap().
  enum Answer { kUnknown, kYes, kNo };
  static constinit std::atomic<Answer> known{kUnknown};
  Answer answer = known.load(std::memory_order_relaxed);
  if (answer == kUnknown) {
    const std::vector<void*> few(5), more(300);
    answer = is_glibc_block(few) && is_glibc_block(more) ? kYes : kNo;
    known.store(answer, std::memory_order_relaxed);
  }
  return answer == kYes;
}

Block block_at(uintptr_t begin, uintptr_t limit) {
  return has_glibc_malloc() ? glibc_block(begin, limit) : Block::kUnknown;
}

size_t bytes_on_heap(const char* at, size_t most, size_t before) {
  uintptr_t header;
  if (!read_bytes(at - before - kWord, &header, kWord)) return 0;
  const uintptr_t size = header & ~kFlags;
  const bool good = is_size(header) && size <= most && size > before + kWord;
  return good ? size - before - kWord : 0;
}

size_t object_on_heap(const char* at, size_t most) {
  constexpr size_t kControl = 16;
  const size_t bytes = bytes_on_heap(at, most);
  return bytes != 0 ? bytes : bytes_on_heap(at, most, kControl);
}

}  // namespace sy::compiling
