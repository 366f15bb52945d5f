#include "backends/cuda/memory/heap.h"

#include <algorithm>

namespace sy::cuda {

Heap::Heap(unsigned which, Source& source, uint64_t begin, size_t bytes,
           size_t least)
    : which_(which), source_(source), virtual_(bytes != 0), least_(least) {
  if (!virtual_) return;
  head_ = make();
  head_->address = begin;
  head_->bytes = bytes;
  head_->state = Block::kHole;
  head_->first = true;
}

void Heap::prepare(size_t n) {
  while (spare_.size() < n) {
    all_.push_back(std::make_unique<Block>());
    spare_.reserve(all_.size());  // so that absorb_next() cannot fail
    spare_.push_back(all_.back().get());
  }
}

Block* Heap::make() {
  prepare(1);
  Block* b = spare_.back();
  spare_.pop_back();
  b->lane = nullptr;
  b->first = false;
  b->ticket = 0;
  return b;
}

void Heap::link_after(Block* b, Block* made) {
  made->before = b;
  made->after = b->after;
  if (made->after != nullptr) made->after->before = made;
  b->after = made;
}

void Heap::absorb_next(Block* b) noexcept {
  Block* next = b->after;
  b->bytes += next->bytes;
  b->after = next->after;
  if (b->after != nullptr) b->after->before = b;
  spare_.push_back(next);
}

Block* Heap::cut(Block* b, size_t bytes) {
  Block* rest = make();
  rest->address = b->address + bytes;
  rest->bytes = b->bytes - bytes;
  rest->state = b->state;
  rest->lane = b->lane;
  rest->ticket = b->ticket;
  b->bytes = bytes;
  link_after(b, rest);
  return rest;
}

Block* Heap::use(Block* b, Lane& lane, size_t bytes) {
  if (b->bytes > bytes) {
    Block* rest = cut(b, bytes);
    index_of(rest).add(rest);
  }
  b->state = Block::kUsed;
  b->lane = &lane;
  return b;
}

Block* Heap::take(Lane& lane, size_t bytes) {
  Block* b = lane.pending[which_].find(bytes);
  Block* idle = idle_.find(bytes);
  if (b == nullptr || (idle != nullptr && idle->bytes < b->bytes)) b = idle;
  if (b == nullptr) return nullptr;
  index_of(b).remove(b);
  return use(b, lane, bytes);
}

Block* Heap::join(Lane& lane, size_t bytes) {
  Block* best = nullptr;
  size_t best_bytes = 0;
  for (Block* b = head_; b != nullptr;) {
    if (!usable(b, lane)) {
      b = b->after;
      continue;
    }
    Block* begin = b;
    size_t sum = 0;
    do {
      sum += b->bytes;
      b = b->after;
    } while (b != nullptr && !b->first && usable(b, lane));
    if (sum >= bytes && (best == nullptr || sum < best_bytes)) {
      best = begin;
      best_bytes = sum;
    }
  }
  if (best == nullptr) return nullptr;
  index_of(best).remove(best);
  while (best->bytes < bytes) {
    Block* next = best->after;
    index_of(next).remove(next);
    if (next->state == Block::kPending) {
      best->ticket = best->state == Block::kPending
                         ? std::max(best->ticket, next->ticket)
                         : next->ticket;
      best->state = Block::kPending;
      best->lane = &lane;
    }
    absorb_next(best);
  }
  return use(best, lane, bytes);
}

Heap::Growth Heap::plan(const Lane& lane, size_t bytes) const {
  Growth best;
  const auto consider = [&](Block* hole, size_t cost) {
    if (best.hole == nullptr || cost < best.bytes) best = {hole, cost};
  };
  size_t left = 0;
  for (Block* b = head_; b != nullptr; b = b->after) {
    if (b->state == Block::kHole) {
      const size_t need =
          round_up(bytes - std::min(left, bytes), source_.granule());
      if (need <= b->bytes) {
        consider(b, need);
      } else {
        size_t sum = left + b->bytes;
        for (Block* r = b->after; r != nullptr && usable(r, lane);
             r = r->after) {
          sum += r->bytes;
        }
        if (sum >= bytes) consider(b, b->bytes);
      }
    }
    left = usable(b, lane) ? left + b->bytes : 0;
  }
  return best;
}

size_t Heap::growth(const Lane& lane, size_t bytes) const {
  return virtual_ ? plan(lane, bytes).bytes
                  : round_up(bytes, source_.granule());
}

Block* Heap::grow(Lane& lane, size_t bytes) {
  if (!virtual_) {
    const size_t exact = round_up(bytes, source_.granule());
    Block* b = exact < least_ ? add_allocation(least_) : nullptr;
    if (b == nullptr) b = add_allocation(exact);
    return b == nullptr ? nullptr : use(b, lane, bytes);
  }
  const Growth growth = plan(lane, bytes);
  if (growth.hole == nullptr) return nullptr;
  Block* b = growth.hole;
  prepare(1);
  const size_t mapped = source_.map(b->address, growth.bytes);
  if (mapped == 0) return nullptr;
  if (mapped < b->bytes) cut(b, mapped);
  give_idle(b);
  return join(lane, bytes);
}

Block* Heap::add_allocation(size_t bytes) {
  prepare(1);
  const auto piece = source_.allocate(bytes);
  if (!piece) return nullptr;
  Block* b = make();
  b->address = piece->address;
  b->bytes = piece->bytes;
  b->state = Block::kIdle;
  b->first = true;
  Block* before = nullptr;
  for (Block* i = head_; i != nullptr && i->address < b->address;
       i = i->after) {
    before = i;
  }
  if (before != nullptr) {
    link_after(before, b);
  } else {
    b->before = nullptr;
    b->after = head_;
    if (head_ != nullptr) head_->before = b;
    head_ = b;
  }
  return b;
}

void Heap::give(Block* b, uint64_t ticket) noexcept {
  b->state = Block::kPending;
  b->ticket = ticket;
  const auto alike = [&](const Block* other) {
    return other->state == Block::kPending && other->lane == b->lane;
  };
  if (Block* next = b->after; next != nullptr && !next->first && alike(next)) {
    index_of(next).remove(next);
    b->ticket = std::max(b->ticket, next->ticket);
    absorb_next(b);
  }
  if (Block* before = b->before;
      before != nullptr && !b->first && alike(before)) {
    index_of(before).remove(before);
    before->ticket = std::max(b->ticket, before->ticket);
    absorb_next(before);
    b = before;
  }
  index_of(b).add(b);
}

void Heap::give_idle(Block* b) noexcept {
  b->state = Block::kIdle;
  b->lane = nullptr;
  if (Block* next = b->after;
      next != nullptr && !next->first && next->state == Block::kIdle) {
    idle_.remove(next);
    absorb_next(b);
  }
  if (Block* before = b->before;
      before != nullptr && !b->first && before->state == Block::kIdle) {
    idle_.remove(before);
    absorb_next(before);
    b = before;
  }
  idle_.add(b);
}

void Heap::ask(Lane& lane) {
  std::vector<Block*> list;
  lane.pending[which_].list(&list);
  for (Block* b : list) {
    if (b->ticket == kTicketUnknown) b->ticket = kTicketAsked;
  }
}

void Heap::settle(Lane& lane, uint64_t last, uint64_t completed) {
  std::vector<Block*> list;
  lane.pending[which_].list(&list);
  for (Block* b : list) {
    if (b->ticket == kTicketAsked) b->ticket = last;
    if (b->ticket > completed || b->ticket == kTicketUnknown) continue;
    lane.pending[which_].remove(b);
    give_idle(b);
  }
}

void Heap::punch(Block* b, uint64_t address, size_t bytes) {
  if (address > b->address) {
    Block* rest = cut(b, address - b->address);
    idle_.add(b);
    b = rest;
  }
  if (b->bytes > bytes) {
    Block* rest = cut(b, bytes);
    idle_.add(rest);
  }
  b->state = Block::kHole;
  if (b->after != nullptr && b->after->state == Block::kHole) absorb_next(b);
  if (b->before != nullptr && b->before->state == Block::kHole) {
    absorb_next(b->before);
  }
}

size_t Heap::release_idle(size_t most) {
  std::vector<Block*> list;
  idle_.list(&list);
  // Blocks that lie last go first, so that the heap stays compact.
  std::sort(list.begin(), list.end(), [](const Block* a, const Block* b) {
    return a->address > b->address;
  });
  size_t done = 0;
  for (Block* b : list) {
    if (!virtual_) {
      if (done >= most) break;
      const bool whole = b->first && (b->after == nullptr || b->after->first);
      if (!whole) continue;
      idle_.remove(b);
      done += b->bytes;
      source_.free(b->address);
      (b->before != nullptr ? b->before->after : head_) = b->after;
      if (b->after != nullptr) b->after->before = b->before;
      spare_.push_back(b);
      continue;
    }
    // The last pieces of the block go first: the rest lies before.
    std::vector<Source::Piece> pieces;
    for (auto p = source_.piece_from(b->address);
         p && p->address + p->bytes <= b->end();
         p = source_.piece_from(p->address + p->bytes)) {
      pieces.push_back(*p);
    }
    for (auto p = pieces.rbegin(); p != pieces.rend() && done < most; ++p) {
      prepare(2);
      if (!source_.unmap(*p)) continue;
      done += p->bytes;
      // The block that holds the piece now is the one that begins where b did.
      idle_.remove(b);
      punch(b, p->address, p->bytes);
      if (b->state != Block::kIdle) break;
    }
  }
  return done;
}

}  // namespace sy::cuda
