#pragma once

#include <cstddef>

#include "c10/macros.h"

namespace sy {

// Memory for the small objects of every call (tensors, storages, nodes, small
// results). Blocks are aligned to 64 bytes, and their size is a multiple of 64
// bytes. A thread keeps the blocks that it frees in lists of its own, and hands
// an excess to other threads in batches. Any thread may free a block, at any
// time of its life. Blocks above kPoolMaxBytes come from the system. Under
// AddressSanitizer every block is its own malloc. pool_allocate throws
// OutOfMemoryError. `bytes` of pool_free must be the number that pool_allocate
// was given.
inline constexpr size_t kPoolMaxBytes = 1024;
SY_API void* pool_allocate(size_t bytes);
SY_API void pool_free(void* block, size_t bytes) noexcept;

// Whether the address is in the pool's memory, or in one of its blocks under
// AddressSanitizer: tensors, storages and nodes are there, and no variables of
// the program. Takes a lock, and a while that grows with the pool. Pool memory
// stays readable for the rest of the process, but not under AddressSanitizer.
SY_API bool is_pool_memory(const void* at) noexcept;

}  // namespace sy
