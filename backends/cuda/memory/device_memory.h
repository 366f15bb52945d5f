#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/cuda/memory/address_map.h"
#include "backends/cuda/memory/foreign_uses.h"
#include "backends/cuda/memory/heap.h"
#include "backends/cuda/memory/thread_part.h"
#include "c10/memory/allocator.h"

namespace sy::cuda {

// The memory of one device. See Note [Device memory] in device_memory.cpp.
// Never destroyed. Thread-safe; no lock is held while streams are asked.
class DeviceMemory final : public Allocator {
 public:
  explicit DeviceMemory(int device);

  void* allocate(size_t bytes) override;
  void* allocate_on(size_t bytes, uint64_t stream) override;
  void deallocate(void* data, size_t bytes) noexcept override;
  void note_use(const void* data, int device, uint64_t stream,
                uint64_t ticket) noexcept override;
  MemoryStats stats() const noexcept override;
  void reset_peak() noexcept override;
  void trim() noexcept override;
  void set_limit(int64_t bytes) noexcept override;

  // The holders of the memory, a line each.
  std::string table() const;
  // The thread's end: its blocks go to all.
  void leave(ThreadPart* t) noexcept;
  // Lets kernels and copies of another device reach this memory.
  void let_reach(int device);
  void before_fork() noexcept;
  void after_fork(bool child) noexcept;

 private:
  using Lock = std::unique_lock<std::mutex>;
  // A large block that several streams use.
  struct Mixed {
    Block* block;
    BlockUses uses;
    bool done = false;
  };
  // A small block that other streams use.
  struct Parked {
    void* data;
    Block* block;
    BlockUses uses;
    bool done = false;
  };

  void* get(size_t bytes, uint64_t stream);
  void* get_small(size_t bytes, uint64_t stream);
  void* get_large(size_t bytes, uint64_t stream);
  void put_small(void* data, size_t bytes, Block* span) noexcept;
  void put_large(void* data, size_t bytes) noexcept;

  // nullptr after the thread's end.
  ThreadPart* part_of_thread();
  static Bins* bins_of(ThreadPart* t, Lane& lane);
  Lane& lane_of(Lock& lock, uint64_t stream);
  // Throws if `bytes` more are beyond the limit; updates the peak. `t` may be
  // nullptr.
  void admit(Lock& lock, ThreadPart* t, size_t bytes);
  int64_t sum_small() const;  // under the lock, as all below
  // Fills `out` with up to `n` free small blocks; returns how many.
  unsigned take_batch(Lock& lock, Lane& lane, unsigned c, void** out,
                      unsigned n);
  unsigned cut_spans(Lane& lane, unsigned c, void** out, unsigned n);
  void give_small(void* data, Block* span) noexcept;
  void list_span(Block* b) noexcept;
  void unlist_span(Block* b) noexcept;
  void retire_span(Block* b) noexcept;
  void count_without_thread(int64_t bytes, int64_t calls) noexcept;

  // pressure.cpp has the functions from here on. Gets a block from a heap, by
  // whatever it takes. The lock is given up meanwhile. Throws OutOfMemoryError.
  Block* obtain(Lock& lock, Heap& heap, Lane& lane, size_t bytes);
  // Does not wait. `strict`: nullptr rather than beyond the limit.
  Block* find_or_grow(Heap& heap, Lane& lane, size_t bytes, bool strict);
  // Frees what work no longer uses. Without the lock, as the next two.
  void poll();
  // Takes the free blocks of all threads.
  void gather() noexcept;
  // Does both: all that is free is in the heaps.
  void reclaim();
  std::vector<uint64_t> busy_streams() const;
  size_t release_idle(size_t most);
  [[noreturn]] void out_of_memory(Lock& lock, size_t bytes, const char* why);
  std::string table_locked() const;

  const int device_;
  mutable std::mutex mutex_;
  std::mutex poll_mutex_;  // taken before mutex_
  Source source_;
  std::unique_ptr<Heap> spans_, large_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  ForeignUses foreign_;
  std::vector<Mixed> mixed_;
  std::vector<Parked> parked_;
  ThreadPart* threads_ = nullptr;
  int64_t ended_bytes_ = 0, ended_calls_ = 0;  // of threads that have ended
  int64_t large_bytes_ = 0, large_calls_ = 0;
  mutable int64_t small_bytes_ = 0;  // when last summed
  mutable int64_t peak_ = 0;
  int64_t limit_ = 0;
  int64_t system_calls_ = 0;
};

}  // namespace sy::cuda
