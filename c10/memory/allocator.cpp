#include "c10/memory/allocator.h"

#include "c10/device/backend.h"
#include "c10/device/device_guard.h"
#include "c10/process/error.h"

namespace sy {

Allocator::~Allocator() = default;

namespace {

// nullptr for Meta, which has no memory.
Allocator* allocator_of(Device device) {
  if (device.is_cpu()) return &cpu_allocator();
  if (device.is_meta()) return nullptr;
  return &device_interface(device.type()).allocator(with_index(device).index());
}

}  // namespace

MemoryStats memory_stats(Device device) {
  const Allocator* a = allocator_of(device);
  return a == nullptr ? MemoryStats{} : a->stats();
}

void reset_peak_memory_stats(Device device) {
  if (Allocator* a = allocator_of(device)) a->reset_peak();
}

void trim_memory(Device device) {
  if (Allocator* a = allocator_of(device)) a->trim();
}

void set_memory_limit(int64_t bytes, Device device) {
  SY_CHECK(bytes >= 0, Value,
           "[set_memory_limit] bytes: expected non-negative, got {}", bytes);
  if (Allocator* a = allocator_of(device)) a->set_limit(bytes);
}

}  // namespace sy
