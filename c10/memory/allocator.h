#pragma once

#include <cstddef>
#include <cstdint>

#include "c10/device/device.h"
#include "c10/macros.h"

namespace sy {

// The memory of one allocator, in bytes. The counts of calls begin at process
// start.
struct MemoryStats {
  int64_t allocated = 0;     // handed out now
  int64_t peak = 0;          // highest `allocated` since the last reset
  int64_t cached = 0;        // kept for reuse, handed out to nobody
  int64_t limit = 0;         // 0: none
  int64_t allocations = 0;   // number of calls
  int64_t system_calls = 0;  // how many of those went to the system
};

// Gives storages their memory. Implementations must be thread-safe. No
// standard-library type crosses this interface, so a plugin built with another
// compiler may implement it.
class SY_API Allocator {
 public:
  virtual ~Allocator();
  // Returns at least `bytes` bytes, aligned to 64; nullptr for 0 bytes. Throws
  // OutOfMemoryError.
  virtual void* allocate(size_t bytes) = 0;
  // `bytes` is the number that allocate() was given. On a device whose kernels
  // run after the call, work may still use the block: the allocator then gives
  // it only to work that waits for the earlier work.
  virtual void deallocate(void* data, size_t bytes) noexcept = 0;
  virtual MemoryStats stats() const noexcept { return {}; }
  virtual void reset_peak() noexcept {}
  // Gives cached memory back to the system.
  virtual void trim() noexcept {}
  // Limits the bytes that may be handed out at once; 0 for no limit.
  virtual void set_limit(int64_t) noexcept {}
  // Like allocate(), for work that enters `stream` of the device after the
  // call. allocate() is for the current stream of this thread.
  virtual void* allocate_on(size_t bytes, uint64_t /*stream*/) {
    return allocate(bytes);
  }
  // Says that work number `ticket` of `stream` (StreamInterface::last_ticket),
  // on device `device` of the backend, uses the block at `data`. The allocator
  // then gives the block only to work that runs after that, whoever frees it.
  // Launches call this through note_use() (c10/device/stream.h).
  virtual void note_use(const void* /*data*/, int /*device*/,
                        uint64_t /*stream*/, uint64_t /*ticket*/) noexcept {}

 protected:
  Allocator() = default;

 private:
  virtual void* reserved0() { return nullptr; }
  virtual void* reserved1() { return nullptr; }
  virtual void* reserved2() { return nullptr; }
  virtual void* reserved3() { return nullptr; }
};

// The caching allocator of the CPU backend. Small blocks come from the pool.
// Large blocks are kept and reused, so that a new result does not fault its
// pages again. The limit at start is SWITCHYARD_MEMORY_LIMIT (bytes, or 4G,
// 512M), else the memory of the machine.
SY_API Allocator& cpu_allocator() noexcept;

// These use the allocator of the device, and do nothing for Meta, which has
// none. They throw ValueError if the backend is not loaded, set_memory_limit
// also for negative `bytes`.
SY_API MemoryStats memory_stats(Device device = Device(kCPU));
SY_API void reset_peak_memory_stats(Device device = Device(kCPU));
SY_API void trim_memory(Device device = Device(kCPU));
SY_API void set_memory_limit(int64_t bytes, Device device = Device(kCPU));

// Registers a function that frees caches whose contents can be made again.
// trim_memory() of the CPU calls it, and so does an allocation on the CPU
// before it fails: in any thread, without locks of the allocator. It cannot be
// removed. Throws Error beyond 16 functions.
SY_API void add_reclaimer(void (*free_some)() noexcept);
// Reads a number of bytes (4294967296, 4G, 512M) from an environment variable.
// Returns `otherwise` if it is not set, and, with a warning, if it says
// something else.
SY_API int64_t bytes_from_environment(const char* name, int64_t otherwise);

// For tests of what happens without memory. The nth CPU storage made from now
// on, in any thread, fails with OutOfMemoryError (1: the next one); 0 ends
// that. Returns how many storages were left until the failure that an earlier
// call asked for; 0 if it has come or there was none.
SY_API int64_t fail_allocation(int64_t nth) noexcept;

}  // namespace sy
