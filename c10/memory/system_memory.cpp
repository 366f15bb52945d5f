#include "c10/memory/system_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>

#include "c10/macros.h"

namespace sy::detail {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

// Whether a block is mapped on its own; not under AddressSanitizer, which would
// not watch it.
constexpr bool maps(size_t bytes) {
  return SY_ASAN == 0 && bytes >= size_t{1} << 20;
}

// The first number after `key` in a small file of the kernel; -1 if none.
int64_t number_in(const char* path, std::string_view key) noexcept {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  char buffer[2048];
  const ssize_t n = read(fd, buffer, sizeof buffer);
  close(fd);
  if (n <= 0) return -1;
  const std::string_view text(buffer, static_cast<size_t>(n));
  size_t at = text.find(key);
  if (at == std::string_view::npos) return -1;
  at = text.find_first_not_of(" \t", at + key.size());
  if (at == std::string_view::npos) return -1;
  int64_t value = -1;
  std::from_chars(text.data() + at, text.data() + text.size(), value);
  return value;
}

}  // namespace

void* system_allocate(size_t bytes) noexcept {
  if (!maps(bytes)) {
    void* data = nullptr;
    return posix_memalign(&data, 64, bytes) == 0 ? data : nullptr;
  }
  const auto map = [](size_t n) {
    void* p = mmap(nullptr, n, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? nullptr : static_cast<char*>(p);
  };
  if (bytes < kHugePage) return map(bytes);
  char* raw = map(bytes + kHugePage);
  if (raw == nullptr) return nullptr;
  const size_t before = -reinterpret_cast<uintptr_t>(raw) & (kHugePage - 1);
  char* data = raw + before;
  if (before != 0) munmap(raw, before);
  munmap(data + bytes, kHugePage - before);
  madvise(data, bytes, MADV_HUGEPAGE);
  return data;
}

void system_free(void* data, size_t bytes) noexcept {
  if (!maps(bytes)) {
    std::free(data);
  } else {
    munmap(data, bytes);
  }
}

int64_t physical_memory() noexcept {
  int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) *
                  static_cast<int64_t>(sysconf(_SC_PAGESIZE));
  if (bytes <= 0) bytes = std::numeric_limits<int64_t>::max();
  for (const char* path : {"/sys/fs/cgroup/memory.max",
                           "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    const int64_t limit = number_in(path, "");
    if (limit > 0) bytes = std::min(bytes, limit);
  }
  return bytes;
}

int64_t available_memory() noexcept {
  const int64_t kib = number_in("/proc/meminfo", "MemAvailable:");
  return kib < 0 ? -1 : kib * 1024;
}

}  // namespace sy::detail
