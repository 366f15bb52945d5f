#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sy::cuda {

struct Block;

// Free blocks by size, eight lists per power of two. A block is in one index at
// most; the index owns nothing. Not thread-safe.
class FreeIndex {
 public:
  void add(Block* b);
  void remove(Block* b);
  // The smallest block of at least `bytes`, or nullptr. It stays in the index.
  Block* find(size_t bytes) const;
  bool empty() const { return (filled_[0] | filled_[1] | filled_[2]) == 0; }
  // Appends all blocks.
  void list(std::vector<Block*>* out) const;

 private:
  static constexpr unsigned kLists = 192;
  std::array<Block*, kLists> lists_{};
  std::array<uint64_t, kLists / 64> filled_{};
};

}  // namespace sy::cuda
