#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "c10/memory/block_uses.h"

namespace sy::cuda {

// The uses of blocks in other streams than the one that they were handed out
// for. Thread-safe.
class ForeignUses {
 public:
  // Whether it is the block's first.
  bool add(const void* data, int device, uint64_t stream, uint64_t ticket) {
    Shard& s = shard(data);
    const std::lock_guard lock(s.mutex);
    const auto [place, first] = s.uses.try_emplace(data);
    place->second.add(device, stream, ticket);
    return first;
  }
  // Moves the uses of a block to `out`. False if there are none.
  bool take(const void* data, BlockUses* out) {
    Shard& s = shard(data);
    const std::lock_guard lock(s.mutex);
    auto node = s.uses.extract(data);
    if (node.empty()) return false;
    *out = std::move(node.mapped());
    return true;
  }
  // Around a fork, so that the child finds the locks free.
  void lock() {
    for (Shard& s : shards_) s.mutex.lock();
  }
  void unlock() {
    for (Shard& s : shards_) s.mutex.unlock();
  }

 private:
  struct alignas(64) Shard {
    std::mutex mutex;
    std::unordered_map<const void*, BlockUses> uses;
  };
  Shard& shard(const void* data) {
    const auto n = reinterpret_cast<uint64_t>(data) >> 8;
    return shards_[(n ^ (n >> 10)) % shards_.size()];
  }
  std::array<Shard, 16> shards_;
};

}  // namespace sy::cuda
