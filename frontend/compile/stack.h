#pragma once

#include <cstddef>
#include <cstdint>

namespace sy::compiling {

// Whether memory of the calling thread's stack belongs to functions that are
// still running above `frame`, an address in the stack.
bool is_on_stack(const void* at, size_t bytes, const void* frame) noexcept;

// Copies memory that may not be there. Returns false then. A call of the
// system.
bool read_memory(const void* from, void* to, size_t bytes) noexcept;

// Where malloc has the blocks of the first thread, which can be read. It may
// become shorter when some are freed.
struct MainHeap {
  uintptr_t begin, end;
  bool has(const void* at, size_t bytes) const noexcept {
    const auto first = reinterpret_cast<uintptr_t>(at);
    return first >= begin && first < end && end - first >= bytes;
  }
};
MainHeap main_heap() noexcept;
// Memory that may not be there, but for most of it in nanoseconds.
bool read_bytes(const void* from, void* to, size_t bytes) noexcept;

// What could be an address of the program's.
inline bool may_be_pointer(uintptr_t p) noexcept {
  return p >= 1 << 16 && p < uintptr_t{1} << 47 && p % alignof(int) == 0;
}

inline bool overlap(const void* a, size_t n, const void* b, size_t m) noexcept {
  const auto x = reinterpret_cast<uintptr_t>(a),
             y = reinterpret_cast<uintptr_t>(b);
  return x < y + m && y < x + n;
}

}  // namespace sy::compiling
