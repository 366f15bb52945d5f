#include "backends/cuda/memory/allocator.h"

#include <pthread.h>

#include <atomic>
#include <mutex>

#include "backends/cuda/memory/device_memory.h"
#include "backends/cuda/memory/pinned.h"
#include "c10/process/error.h"

namespace sy::cuda {
namespace {

// Leaked, as what they own: tensors may be freed after static destruction.
constinit std::atomic<DeviceMemory*> memories[kMostDevices] = {};
constinit std::atomic<PinnedMemory*> pinned{nullptr};
constinit std::mutex making;

DeviceMemory& memory_of(int device) {
  SY_INTERNAL_ASSERT(device >= 0 && device < kMostDevices);
  std::atomic<DeviceMemory*>& place = memories[device];
  DeviceMemory* memory = place.load(std::memory_order_acquire);
  if (SY_LIKELY(memory != nullptr)) return *memory;
  const std::lock_guard lock(making);
  memory = place.load(std::memory_order_relaxed);
  if (memory == nullptr) {
    memory = new DeviceMemory(device);
    place.store(memory, std::memory_order_release);
  }
  return *memory;
}

// Calls f for each allocator that there is.
template <class F>
void each_memory(F&& f) {
  for (auto& place : memories) {
    DeviceMemory* const m = place.load(std::memory_order_acquire);
    if (m != nullptr) f(*m);
  }
}

// The forking thread holds the locks, so that the child can free what it has.
void before_fork() {
  making.lock();
  each_memory([](DeviceMemory& m) { m.before_fork(); });
  if (PinnedMemory* const m = pinned.load()) m->before_fork();
}
template <bool child>
void after_fork() {
  if (PinnedMemory* const m = pinned.load()) m->after_fork();
  each_memory([](DeviceMemory& m) { m.after_fork(child); });
  making.unlock();
}
[[maybe_unused]] const int fork_handlers =
    pthread_atfork(&before_fork, &after_fork<false>, &after_fork<true>);

}  // namespace

Allocator& device_allocator(int device) { return memory_of(device); }

Allocator& pinned_allocator() {
  PinnedMemory* memory = pinned.load(std::memory_order_acquire);
  if (memory == nullptr) {
    const std::lock_guard lock(making);
    memory = pinned.load(std::memory_order_relaxed);
    if (memory == nullptr) {
      memory = new PinnedMemory;
      pinned.store(memory, std::memory_order_release);
    }
  }
  return *memory;
}

bool is_pinned_memory(const void* data, size_t bytes) noexcept {
  const PinnedMemory* const memory = pinned.load(std::memory_order_acquire);
  return memory != nullptr && memory->contains(data, bytes);
}

void let_reach(int device, int other) { memory_of(device).let_reach(other); }

std::string memory_table(int device) { return memory_of(device).table(); }

}  // namespace sy::cuda
