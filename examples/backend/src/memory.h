#pragma once

#include <sy/library.h>

#include <atomic>
#include <cstddef>

namespace sample {

// The memory of one device. Safe from several threads.
class Memory final : public sy::Allocator {
 public:
  // Never destroyed: tensors may outlive static objects.
  static Memory& of(int device);

  void* allocate(size_t bytes) override;
  void deallocate(void* data, size_t bytes) noexcept override;
  sy::MemoryStats stats() const noexcept override;
  void reset_peak() noexcept override;
  void set_limit(int64_t bytes) noexcept override;

 private:
  std::atomic<int64_t> allocated_{0}, peak_{0}, limit_{0}, calls_{0};
};

// The elements of a tensor, from its first.
template <class T>
T* elements(const sy::TensorBase& t) {
  return static_cast<T*>(t.raw_data());
}

}  // namespace sample
