#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "c10/memory/allocator.h"
#include "c10/memory/block_uses.h"

namespace sy::cuda {

// Memory of the host that all devices copy from and to, in sizes that are
// powers of two. The driver takes long to pin pages, so blocks are kept; small
// ones come from chunks of several. A block is handed out again once all work
// that uses it is done, because the host may write to it at once. Never
// destroyed. Thread-safe; no lock is held while streams are asked.
class PinnedMemory final : public Allocator {
 public:
  PinnedMemory();

  void* allocate(size_t bytes) override;
  void deallocate(void* data, size_t bytes) noexcept override;
  void note_use(const void* data, int device, uint64_t stream,
                uint64_t ticket) noexcept override;
  MemoryStats stats() const noexcept override;
  void reset_peak() noexcept override;
  void trim() noexcept override;
  void set_limit(int64_t bytes) noexcept override;

  bool contains(const void* data, size_t bytes) const noexcept;
  void before_fork() noexcept;
  void after_fork() noexcept;

 private:
  using Lock = std::unique_lock<std::mutex>;
  static constexpr int kFirstLog = 8;  // the smallest size is 256 bytes
  static constexpr int kLogs = 48;

  struct Chunk {
    size_t bytes;
    int log;            // of its blocks' size
    size_t free_count;  // blocks in free_
  };
  struct Waiting {
    void* data;
    int log;
    BlockUses uses;
    bool done = false;
  };
  using Chunks = std::map<const char*, Chunk>;

  static int log_of(size_t bytes);
  static size_t chunk_bytes(int log);
  // nullptr if there is none. Under the lock, as the next four.
  void* take(int log);
  void give(void* data, int log) noexcept;
  // nullptr if the system has no memory.
  void* pin(int log);
  // Whether a chunk more is within the limit.
  bool fits(int log) const;
  Chunks::iterator chunk_of(const void* data) noexcept;
  // Hands chunks without a block in use back to the system. Without the lock,
  // as the next two.
  void release();
  // Frees what work no longer uses.
  void poll();
  void wait_for_all();

  mutable std::mutex mutex_;
  std::mutex poll_mutex_;  // taken before mutex_
  Chunks chunks_;
  std::array<std::vector<void*>, kLogs> free_;
  // The uses of blocks that are handed out.
  std::unordered_map<const void*, BlockUses> uses_;
  std::vector<Waiting> waiting_;
  // The streams of all uses since the last wait_for_all().
  std::vector<std::pair<int, uint64_t>> streams_;
  MemoryStats stats_;
  int64_t held_ = 0;
};

}  // namespace sy::cuda
