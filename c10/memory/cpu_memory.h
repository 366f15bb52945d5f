#pragma once

#include <cstddef>
#include <cstdint>

#include "c10/memory/pool_fast.h"

// The CPU allocator without its virtual functions, for c10's own sources.

namespace sy::detail {

// bytes > kPoolMaxBytes.
void* cpu_allocate_large(size_t bytes);
void cpu_deallocate_large(void* data, size_t bytes) noexcept;

// The pool calls this before it hands out `more` bytes of small results. Keeps
// the peak; throws beyond the limit.
void cpu_note_small(int64_t bytes, size_t more);

inline void* cpu_allocate(size_t bytes) {
  if (SY_LIKELY(bytes - 1 < kPoolMaxBytes)) return pool_get(bytes, bytes);
  return bytes == 0 ? nullptr : cpu_allocate_large(bytes);
}
inline void cpu_deallocate(void* data, size_t bytes) noexcept {
  if (SY_LIKELY(bytes - 1 < kPoolMaxBytes)) {
    pool_put(data, bytes, bytes);
  } else if (bytes != 0) {
    cpu_deallocate_large(data, bytes);
  }
}

// Called around a fork, when it waits for nobody any more. These locks are
// taken too often to be ForkMutexes (c10/process/fork.h); no other one is taken
// under them.
void lock_memory_for_fork() noexcept;
void unlock_memory_after_fork(bool child) noexcept;

// The number of bytes that a text says (4294967296, 4G, 512M, 64k); -1 if it
// says none.
int64_t parse_bytes(const char* text) noexcept;

}  // namespace sy::detail
