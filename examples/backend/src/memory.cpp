#include "memory.h"

#include <cstdlib>

#include "device.h"

namespace sample {
namespace {

constexpr size_t kAlignment = 64;

}  // namespace

Memory& Memory::of(int device) {
  static auto* const memories = new Memory[kDevices];
  return memories[device];
}

void* Memory::allocate(size_t bytes) {
  if (bytes == 0) return nullptr;
  const int64_t limit = limit_.load(std::memory_order_relaxed);
  const auto wanted = static_cast<int64_t>(bytes);
  void* data = nullptr;
  if (bytes <= PTRDIFF_MAX - kAlignment &&
      (limit == 0 || wanted <= limit - allocated_.load())) {
    data = std::aligned_alloc(
        kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  }
  SY_CHECK(data != nullptr, OutOfMemory,
           "[sample] cannot give {} bytes: {} of {} are in use", bytes,
           allocated_.load(), limit);
  const int64_t now = allocated_.fetch_add(wanted) + wanted;
  int64_t peak = peak_.load();
  while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
  }
  calls_.fetch_add(1, std::memory_order_relaxed);
  return data;
}

void Memory::deallocate(void* data, size_t bytes) noexcept {
  if (data == nullptr) return;
  std::free(data);
  allocated_.fetch_sub(static_cast<int64_t>(bytes));
}

sy::MemoryStats Memory::stats() const noexcept {
  sy::MemoryStats s;
  s.allocated = allocated_.load();
  s.peak = peak_.load();
  s.limit = limit_.load();
  s.allocations = calls_.load();
  return s;
}

void Memory::reset_peak() noexcept { peak_.store(allocated_.load()); }

void Memory::set_limit(int64_t bytes) noexcept { limit_.store(bytes); }

}  // namespace sample
