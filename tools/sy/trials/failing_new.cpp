#include "tools/sy/trials/failing_new.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

// The program's own operator new takes the place of the standard library's,
// which does the same but for failing. Its other forms call these, but not
// AddressSanitizer's: those that do not throw are here because their memory
// comes to operator delete.

namespace sy::tools {

namespace {

constinit std::atomic<int64_t> until_failure{0};

void* take(size_t bytes, size_t alignment) noexcept {
  if (until_failure.load(std::memory_order_relaxed) > 0 &&
      until_failure.fetch_sub(1, std::memory_order_relaxed) == 1) {
    return nullptr;
  }
  if (bytes == 0) bytes = 1;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes);
  return std::aligned_alloc(alignment,
                            (bytes + alignment - 1) / alignment * alignment);
}

}  // namespace

int64_t fail_new(int64_t nth) noexcept {
  const int64_t left = until_failure.exchange(nth, std::memory_order_relaxed);
  return left > 0 ? left : 0;
}

}  // namespace sy::tools

void* operator new(size_t bytes) {
  void* const p = sy::tools::take(bytes, 1);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  void* const p = sy::tools::take(bytes, static_cast<size_t>(alignment));
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return sy::tools::take(bytes, 1);
}
void* operator new(size_t bytes, std::align_val_t alignment,
                   const std::nothrow_t&) noexcept {
  return sy::tools::take(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept {
  std::free(p);
}
