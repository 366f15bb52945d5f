#pragma once

#include <cstddef>
#include <cstdint>

namespace sy::compiling {

// Whether memory of the calling thread's stack belongs to functions that are
// still running above `frame`, an address in the stack.
bool is_on_stack(const void* at, size_t bytes, const void* frame) noexcept;

// Whether the calling thread's stack has the memory, in use or not.
bool is_stack_memory(const void* at) noexcept;

// Whether a word could be an address of the program's.
inline bool may_be_pointer(uintptr_t p) noexcept {
  return p >= 1 << 16 && p < uintptr_t{1} << 47 && p % alignof(int) == 0;
}

inline bool overlap(const void* a, size_t n, const void* b, size_t m) noexcept {
  const auto x = reinterpret_cast<uintptr_t>(a),
             y = reinterpret_cast<uintptr_t>(b);
  return x < y + m && y < x + n;
}

}  // namespace sy::compiling
