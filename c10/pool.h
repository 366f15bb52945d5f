#pragma once

#include <cstddef>

#include "c10/macros.h"

namespace sy {

// Memory for the small objects of every call (tensors, storages, nodes, small
// results): 64-byte aligned blocks of a multiple of 64 bytes, kept in free
// lists of the thread that frees them; what one thread frees in excess is
// handed to the others in batches. Any thread may free, at any time of its
// life. Blocks above kPoolMaxBytes come from the system. pool_allocate throws
// OutOfMemoryError; under AddressSanitizer every block is its own malloc.
// `bytes` of pool_free is what pool_allocate was given.
inline constexpr size_t kPoolMaxBytes = 1024;
SY_API void* pool_allocate(size_t bytes);
SY_API void pool_free(void* block, size_t bytes) noexcept;

}  // namespace sy
