#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cuda/memory/block.h"
#include "backends/cuda/memory/source.h"

namespace sy::cuda {

// Hands out blocks of whole units: the smallest free one that is large enough,
// cut to size; free neighbours are merged. Blocks live as long as the heap,
// and a Block object may be used for another one once its block is free. Not
// thread-safe.
class Heap {
 public:
  // `which` is the heap's place in Lane::pending. [begin, begin + bytes) are
  // reserved addresses of the source, or bytes is 0 and the heap grows by
  // allocations, of at least `least` bytes.
  Heap(unsigned which, Source& source, uint64_t begin, size_t bytes,
       size_t least);
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // All take multiples of kUnit and return nullptr if there is none. The block
  // is for work that enters the stream of the lane.
  Block* take(Lane& lane, size_t bytes);
  // Merges free neighbours that work of the lane may use.
  Block* join(Lane& lane, size_t bytes);
  // Gets memory from the driver, and uses free neighbours of it.
  Block* grow(Lane& lane, size_t bytes);
  // How many bytes grow() would ask for.
  size_t growth(const Lane& lane, size_t bytes) const;

  // The block is free; work of its lane uses it until `ticket` is done.
  void give(Block* b, uint64_t ticket) noexcept;
  // No work uses the block any more; it is in no index.
  void give_idle(Block* b) noexcept;
  // Says that the last ticket of the stream will be read now, for blocks whose
  // ticket is not known.
  void ask(Lane& lane);
  // Blocks of the lane whose work is done become idle. `last` was read after
  // ask(), and `completed` after that.
  void settle(Lane& lane, uint64_t last, uint64_t completed);
  // Gives idle memory back to the driver until at least `most` bytes are given
  // back. Returns how many were.
  size_t release_idle(size_t most);

  // The first block by address; the others are behind it.
  const Block* blocks() const { return head_; }

 private:
  struct Growth {
    Block* hole = nullptr;
    size_t bytes = 0;
  };

  static bool usable(const Block* b, const Lane& lane) {
    return b->state == Block::kIdle ||
           (b->state == Block::kPending && b->lane == &lane);
  }
  FreeIndex& index_of(Block* b) {
    return b->state == Block::kIdle ? idle_ : b->lane->pending[which_];
  }
  Block* make();
  // So that the next `n` calls of make() cannot fail.
  void prepare(size_t n);
  void link_after(Block* b, Block* made);
  // Adds the block behind `b` to it. Neither is in an index.
  void absorb_next(Block* b) noexcept;
  // Cuts the block after `bytes`; returns the rest, which is in no index.
  Block* cut(Block* b, size_t bytes);
  Block* use(Block* b, Lane& lane, size_t bytes);
  // Turns a part of an idle block into a hole, or releases it.
  void punch(Block* b, uint64_t address, size_t bytes);
  Growth plan(const Lane& lane, size_t bytes) const;
  Block* add_allocation(size_t bytes);

  const unsigned which_;
  Source& source_;
  const bool virtual_;
  const size_t least_;
  Block* head_ = nullptr;
  FreeIndex idle_;
  std::vector<std::unique_ptr<Block>> all_;
  std::vector<Block*> spare_;
};

}  // namespace sy::cuda
