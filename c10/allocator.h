#pragma once

#include <cstddef>
#include <cstdint>

#include "c10/device.h"
#include "c10/macros.h"

namespace sy {

// Bytes, as seen by one allocator. All counters are since process start.
struct MemoryStats {
  int64_t allocated = 0;     // handed out now
  int64_t peak = 0;          // highest `allocated` since the last reset
  int64_t cached = 0;        // kept for reuse, handed out to nobody
  int64_t limit = 0;         // 0: none
  int64_t allocations = 0;   // number of calls
  int64_t system_calls = 0;  // of those, how many went to the system
};

// Where the memory of storages comes from. Implementations are safe from
// several threads. No standard-library type crosses this interface, so that a
// plugin built with another compiler may implement it.
class SY_API Allocator {
 public:
  virtual ~Allocator();
  // At least `bytes`, aligned to 64; nullptr for 0 bytes. Throws
  // OutOfMemoryError.
  virtual void* allocate(size_t bytes) = 0;
  // `bytes` as given to allocate(). Of a device that works later, work may
  // still use the block: it is not given out to work that does not wait for it.
  virtual void deallocate(void* data, size_t bytes) noexcept = 0;
  virtual MemoryStats stats() const noexcept { return {}; }
  virtual void reset_peak() noexcept {}
  // Gives cached memory back to the system.
  virtual void trim() noexcept {}
  // Most bytes that may be handed out at once; 0 for no limit.
  virtual void set_limit(int64_t) noexcept {}
  // The same as allocate(), for work that enters `stream` of the device after
  // the call. allocate() is for the stream that is current in this thread.
  virtual void* allocate_on(size_t bytes, uint64_t /*stream*/) {
    return allocate(bytes);
  }
  // Work number `ticket` of `stream` of that device of the backend
  // (StreamInterface::last_ticket) uses the block at `data`. Whoever frees the
  // block, it is not given out again to work that could run before. Launches
  // call it, by way of note_use().
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

// The caching allocator of the CPU backend. Small blocks come from the pool,
// large ones are kept and reused so that a result does not fault its pages
// anew. The limit also comes from SWITCHYARD_MEMORY_LIMIT (bytes, or 4G, 512M).
SY_API Allocator& cpu_allocator() noexcept;

SY_API MemoryStats memory_stats(Device device = Device(kCPU));
SY_API void reset_peak_memory_stats(Device device = Device(kCPU));
SY_API void trim_memory(Device device = Device(kCPU));
SY_API void set_memory_limit(int64_t bytes, Device device = Device(kCPU));

// For caches of what can be made again: `free_some` is called by trim_memory()
// and before an allocation on the CPU fails, without locks of the allocator, in
// any thread. For good; throws Error beyond 16.
SY_API void add_reclaimer(void (*free_some)() noexcept);
// The bytes that a variable of the environment says (4294967296, 4G, 512M);
// `otherwise` if it is not set or, with a warning, says something else.
SY_API int64_t bytes_from_environment(const char* name, int64_t otherwise);

// For tests of what happens without memory: of the CPU storages made from now
// on, in any thread, the nth (1 is the next) fails with OutOfMemoryError. 0
// ends that. Returns how many were left until the failure; 0 if it came.
SY_API int64_t fail_allocation(int64_t nth) noexcept;

}  // namespace sy
