#pragma once

#include <cstddef>

namespace sy::compiling {

// Whether memory of the calling thread's stack belongs to functions that are
// still running above `frame`, an address in the stack.
bool is_on_stack(const void* at, size_t bytes, const void* frame) noexcept;

// Copies memory that may not be there. Returns false then.
bool read_memory(const void* from, void* to, size_t bytes) noexcept;

}  // namespace sy::compiling
