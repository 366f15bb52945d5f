#pragma once

#include <cstddef>
#include <cstdint>

// Functions that look from outside at memory on the heap that the program owns.

namespace sy::compiling {

// Copies memory that may not be there. Returns false then. A call of the
// system.
bool read_memory(const void* from, void* to, size_t bytes) noexcept;

// The memory where malloc has the blocks of the first thread, which can be
// read. It may become shorter when some are freed.
struct MainHeap {
  uintptr_t begin, end;
  bool has(const void* at, size_t bytes) const noexcept {
    const auto first = reinterpret_cast<uintptr_t>(at);
    return first >= begin && first < end && end - first >= bytes;
  }
};
MainHeap main_heap() noexcept;
// Copies memory that may not be there, but most of it in nanoseconds.
bool read_bytes(const void* from, void* to, size_t bytes) noexcept;

// Whether sizes stand in front of blocks. Nobody knows the blocks of other
// allocators.
bool has_glibc_malloc();

// Whether the memory from `begin` to `limit` is a block that malloc has given
// out, as that of a std::vector is.
enum class Block { kUnknown, kHolds, kOther };
Block block_at(uintptr_t begin, uintptr_t limit);

// The bytes from `at` to the end of its block, if glibc's header looks like
// that of a block of at most `most` bytes that begins `before` bytes before
// `at`; else 0.
size_t bytes_on_heap(const char* at, size_t most, size_t before = 0);
// The same of an object that has the block, by itself or behind the control
// block of std::make_shared.
size_t object_on_heap(const char* at, size_t most);

}  // namespace sy::compiling
