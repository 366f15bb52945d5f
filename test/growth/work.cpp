#include "test/growth/work.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<uint64_t> allocated{0};

void* allocate(size_t n) {
  // A vector that grows one by one is told from one that is made at once.
  allocated.fetch_add(16 + n / 16, std::memory_order_relaxed);
  if (void* p = std::malloc(n == 0 ? 1 : n)) return p;
  throw std::bad_alloc();
}

int open_counter() {
  perf_event_attr a{};
  a.size = sizeof a;
  a.type = PERF_TYPE_HARDWARE;
  a.config = PERF_COUNT_HW_INSTRUCTIONS;
  a.exclude_kernel = 1;
  a.exclude_hv = 1;
  return static_cast<int>(syscall(SYS_perf_event_open, &a, 0, -1, -1, 0));
}

int counter() {
  static const int fd = open_counter();
  return fd;
}

uint64_t count_now() {
  uint64_t n = 0;
  if (counter() >= 0 && read(counter(), &n, sizeof n) == sizeof n) return n;
  return allocated.load();
}

}  // namespace

// For the whole program, its shared libraries too.
void* operator new(size_t n) { return allocate(n); }
// AddressSanitizer's own would not go with the delete below.
void* operator new(size_t n, const std::nothrow_t&) noexcept {
  try {
    return allocate(n);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace sy::test {

const char* unit_of_work() {
  // Some virtual machines open the counter and count nothing.
  static const bool counts = [] {
    if (counter() < 0) return false;
    const uint64_t before = count_now();
    volatile int x = 0;
    for (int i = 0; i < 1000; ++i) x = x + i;
    return count_now() - before >= 1000;
  }();
  return counts ? "instructions" : "allocations";
}

uint64_t work_of(const std::function<void()>& f) {
  const bool instructions = unit_of_work()[0] == 'i';
  const auto now = [&] {
    return instructions ? count_now() : allocated.load();
  };
  const uint64_t before = now();
  f();
  return now() - before;
}

double growth(const std::function<std::function<void()>(int64_t)>& prepare,
              int64_t n) {
  prepare(n)();
  const std::function<void()> once = prepare(n), twice = prepare(2 * n);
  const auto a = static_cast<double>(work_of(once));
  const auto b = static_cast<double>(work_of(twice));
  return b / a;
}

}  // namespace sy::test
