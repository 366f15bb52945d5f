#include "backends/cuda/memory/free_index.h"

#include <algorithm>
#include <bit>

#include "backends/cuda/memory/block.h"

namespace sy::cuda {
namespace {

unsigned list_of(size_t bytes) {
  const size_t units = (bytes + kUnit - 1) / kUnit;
  if (units < 8) return static_cast<unsigned>(units);
  const int log = std::bit_width(units) - 1;
  return std::min(191U, 8 * static_cast<unsigned>(log - 3) +
                            static_cast<unsigned>(units >> (log - 3)));
}

Block* smallest_from(Block* list, size_t bytes) {
  Block* best = nullptr;
  for (Block* b = list; b != nullptr; b = b->next) {
    if (b->bytes < bytes) continue;
    if (b->bytes == bytes) return b;
    if (best == nullptr || b->bytes < best->bytes) best = b;
  }
  return best;
}

}  // namespace

void FreeIndex::add(Block* b) {
  const unsigned i = list_of(b->bytes);
  b->previous = nullptr;
  b->next = lists_[i];
  if (b->next != nullptr) b->next->previous = b;
  lists_[i] = b;
  filled_[i / 64] |= uint64_t{1} << (i % 64);
}

void FreeIndex::remove(Block* b) {
  const unsigned i = list_of(b->bytes);
  (b->previous != nullptr ? b->previous->next : lists_[i]) = b->next;
  if (b->next != nullptr) b->next->previous = b->previous;
  if (lists_[i] == nullptr) filled_[i / 64] &= ~(uint64_t{1} << (i % 64));
}

Block* FreeIndex::find(size_t bytes) const {
  const unsigned first = list_of(bytes);
  uint64_t mask = ~uint64_t{0} << (first % 64);
  for (unsigned word = first / 64; word < filled_.size(); ++word) {
    for (uint64_t left = filled_[word] & mask; left != 0; left &= left - 1) {
      const auto i = 64 * word + static_cast<unsigned>(std::countr_zero(left));
      if (Block* b = smallest_from(lists_[i], bytes)) return b;
    }
    mask = ~uint64_t{0};
  }
  return nullptr;
}

void FreeIndex::list(std::vector<Block*>* out) const {
  if (empty()) return;
  for (Block* b : lists_) {
    for (; b != nullptr; b = b->next) out->push_back(b);
  }
}

}  // namespace sy::cuda
