#pragma once

#include <cstddef>
#include <cstdint>

// What the CPU allocator asks of the system.

namespace sy::detail {

// At least 64-byte aligned; nullptr if there is none. Large blocks are mapped
// on their own, on huge pages where the system has them.
void* system_allocate(size_t bytes) noexcept;
void system_free(void* data, size_t bytes) noexcept;

// Physical memory, or less where a control group says so.
int64_t physical_memory() noexcept;
// What is free or can be freed without swapping; -1 if unknown.
int64_t available_memory() noexcept;

}  // namespace sy::detail
