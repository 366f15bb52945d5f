#include "frontend/compile/stack.h"

#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "c10/capture.h"
#include "c10/macros.h"

namespace sy::compiling {

namespace {

// The stack of this thread; empty if nobody knows.
struct Stack {
  uintptr_t begin = 0, end = 0;

  Stack() noexcept {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* first = nullptr;
    size_t bytes = 0;
    if (pthread_attr_getstack(&attributes, &first, &bytes) == 0) {
      begin = reinterpret_cast<uintptr_t>(first);
      end = begin + bytes;
    }
    pthread_attr_destroy(&attributes);
  }
};

// Of the memory that the program's break ends; UINTPTR_MAX if there is none.
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

}  // namespace

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

bool is_on_stack(const void* at, size_t bytes, const void* frame) noexcept {
  static thread_local const Stack stack;
  const auto first = reinterpret_cast<uintptr_t>(at);
  const auto here = reinterpret_cast<uintptr_t>(frame);
  // Code that runs on a stack of its own knows nothing of this one.
  return here >= stack.begin && first > here && first < stack.end &&
         stack.end - first >= bytes;
}

bool read_memory(const void* from, void* to, size_t bytes) noexcept {
  iovec local{to, bytes}, remote{const_cast<void*>(from), bytes};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) ==
         static_cast<ssize_t>(bytes);
}

}  // namespace sy::compiling
