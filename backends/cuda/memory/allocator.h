#pragma once

#include <cstddef>
#include <string>

#include "c10/memory/allocator.h"

// The memory of devices, and pinned memory of the host.

namespace sy::cuda {

// The allocator of one device, never destroyed. The device must exist. Blocks
// are aligned to 256 bytes. Throws what the driver says when the first call
// reserves addresses.
Allocator& device_allocator(int device);
// Host memory that all devices copy from and to; the same tickets.
Allocator& pinned_allocator();

// Whether [data, data + bytes) is pinned memory of pinned_allocator().
bool is_pinned_memory(const void* data, size_t bytes = 1) noexcept;

// Lets another device reach the memory of `device`, for copies between the two
// that do not go through the host. Only for devices that can (can_access_peer).
void let_reach(int device, int other);

// The memory of the device that each operator holds: a line each, "\n  " and
// its text; small blocks by size.
std::string memory_table(int device);

}  // namespace sy::cuda
