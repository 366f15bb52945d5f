#pragma once

#include "c10/macros.h"

namespace sy {

// Whether the address is in the pool's memory (c10/pool.h), or in one of its
// blocks under AddressSanitizer. For code that looks at memory of the program:
// tensors, storages and nodes are no variables of it. Takes a lock, and a while
// that grows with the pool. Pool memory stays readable for the rest of the
// process, but not under AddressSanitizer.
SY_API bool is_pool_memory(const void* at) noexcept;

}  // namespace sy
