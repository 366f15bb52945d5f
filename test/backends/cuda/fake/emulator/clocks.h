#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

// The happens-before order of the threads of a launch, as vector clocks.
//
// A thread has a clock, which goes on at each barrier, __syncwarp and fence. It
// knows of another thread's clock, and what that did up to it happened before,
//  - by __syncthreads, for the threads of its block,
//  - by __syncwarp, for the lanes that took part (shuffles and votes order
//    nothing),
//  - by a fence of the other, an atomic or volatile write after it, and a read
//    of that: at once if the read is an atomic, else from its own next fence
//    on.

namespace fake_cuda {

// The name of a thread in a launch: its block and its number there.
struct ThreadName {
  uint32_t block, thread;
};

// Clocks of threads of any blocks. Shared by all who know the same.
struct Known {
  std::unordered_map<uint64_t, uint32_t> threads;
  // All threads of the block.
  std::unordered_map<uint32_t, uint32_t> blocks;

  bool covers(ThreadName who, uint32_t clock) const;
  bool covers(const Known& other) const;
  void add(const Known& other);
};
using KnownPtr = std::shared_ptr<const Known>;

// The clocks of a block's threads.
class BlockClocks {
 public:
  void begin(uint32_t block, unsigned threads);

  uint32_t block() const { return block_; }
  uint32_t clock(unsigned thread) const {
    return clocks_[thread] < floor_ ? floor_ : clocks_[thread];
  }
  // Whether what `who` did at its clock happened before what the thread does.
  bool before(ThreadName who, uint32_t clock, unsigned thread) const {
    if (who.block == block_ && (clock < floor_ || who.thread == thread)) {
      return true;
    }
    return (synced_ || ordered_) && before_by_others(who, clock, thread);
  }

  void barrier();
  void sync_warp(unsigned warp, unsigned lanes);
  void fence(unsigned thread, bool for_all_blocks);

 private:
  friend class Places;
  // The effect of fences for a thread, or for all threads of the block.
  struct Order {
    KnownPtr known;
    // Read by volatile reads since the last fence; what threads of the own
    // block released.
    KnownPtr pending, pending_block;
    // All that happened before its last fence for all blocks, its last one.
    KnownPtr released, released_block;
  };
  // The clocks that lanes of a warp know of each other: [knower][lane].
  struct Warp {
    bool synced = false;
    uint32_t seen[32][32];
  };

  bool before_by_others(ThreadName who, uint32_t clock, unsigned thread) const;
  Order& order(unsigned thread);
  KnownPtr all_known(unsigned thread) const;

  uint32_t block_ = 0, floor_ = 1, highest_ = 1;
  std::vector<uint32_t> clocks_;
  bool synced_ = false, ordered_ = false;
  std::vector<Warp> warps_;
  std::vector<Order> orders_;  // by thread; empty before the first fence
  Order whole_;                // of all threads, by barriers
};

// Memory that atomics and volatile accesses reach.
class Places {
 public:
  void begin() { places_.clear(); }
  void read(BlockClocks& block, unsigned thread, uintptr_t at, bool is_atomic);
  void write(BlockClocks& block, unsigned thread, uintptr_t at, bool is_atomic);

 private:
  struct Place {
    KnownPtr released;  // to all blocks
    uint32_t block = 0;
    KnownPtr released_block;
  };
  std::unordered_map<uintptr_t, Place> places_;
};

}  // namespace fake_cuda
