#pragma once

#include <cstddef>
#include <cstdint>

// The CPU allocator's requests to the system.

namespace sy::detail {

// Aligned to at least 64 bytes; nullptr if the system has no more. Large blocks
// are mapped on their own, on huge pages where the system has them.
void* system_allocate(size_t bytes) noexcept;
void system_free(void* data, size_t bytes) noexcept;

// The bytes of physical memory, or of the control group if that has less.
int64_t physical_memory() noexcept;
// The bytes that are free or can be freed without swapping; -1 if unknown.
int64_t available_memory() noexcept;

}  // namespace sy::detail
