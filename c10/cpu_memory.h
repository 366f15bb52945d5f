#pragma once

#include <cstddef>
#include <cstdint>

#include "c10/pool_fast.h"

// The CPU allocator without its virtual functions, for c10's own sources.

namespace sy::detail {

// bytes > kPoolMaxBytes.
void* cpu_allocate_large(size_t bytes);
void cpu_deallocate_large(void* data, size_t bytes) noexcept;

// Told by the pool, before it hands out `more` bytes of small results, how
// many are out: keeps the peak, and throws beyond the limit.
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

// Bytes such as 4294967296, 4G, 512M or 64k; -1 if it is none.
int64_t parse_bytes(const char* text) noexcept;

}  // namespace sy::detail
