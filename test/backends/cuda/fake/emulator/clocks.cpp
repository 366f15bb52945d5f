#include "test/backends/cuda/fake/emulator/clocks.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace fake_cuda {
namespace {

constexpr unsigned kLanes = 32;

uint64_t key_of(ThreadName who) {
  return uint64_t{who.block} << 10 | who.thread;
}

template <class Map>
bool covers_all(const Map& map, const Map& other) {
  for (const auto& [key, clock] : other) {
    const auto it = map.find(key);
    if (it == map.end() || it->second < clock) return false;
  }
  return true;
}

template <class Map>
void add_all(Map& map, const Map& other) {
  for (const auto& [key, clock] : other) {
    uint32_t& mine = map[key];
    mine = std::max(mine, clock);
  }
}

KnownPtr join(const KnownPtr& a, const KnownPtr& b) {
  if (a == nullptr || a == b) return b;
  if (b == nullptr || a->covers(*b)) return a;
  if (b->covers(*a)) return b;
  auto both = std::make_shared<Known>(*a);
  both->add(*b);
  return both;
}

}  // namespace

bool Known::covers(ThreadName who, uint32_t clock) const {
  const auto block = blocks.find(who.block);
  if (block != blocks.end() && clock < block->second) return true;
  const auto thread = threads.find(key_of(who));
  return thread != threads.end() && clock <= thread->second;
}

bool Known::covers(const Known& other) const {
  return covers_all(threads, other.threads) && covers_all(blocks, other.blocks);
}

void Known::add(const Known& other) {
  add_all(threads, other.threads);
  add_all(blocks, other.blocks);
}

void BlockClocks::begin(uint32_t block, unsigned threads) {
  block_ = block;
  floor_ = highest_ = 1;
  clocks_.assign(threads, 0);
  if (synced_) {
    for (Warp& w : warps_) w.synced = false;
  }
  warps_.resize((threads + kLanes - 1) / kLanes);
  if (ordered_) {
    orders_.clear();
    whole_ = {};
  }
  synced_ = ordered_ = false;
}

BlockClocks::Order& BlockClocks::order(unsigned thread) {
  if (orders_.empty()) orders_.resize(clocks_.size());
  ordered_ = true;
  return orders_[thread];
}

bool BlockClocks::before_by_others(ThreadName who, uint32_t clock,
                                   unsigned thread) const {
  const unsigned warp = thread / kLanes;
  if (synced_ && who.block == block_ && who.thread / kLanes == warp &&
      warps_[warp].synced &&
      warps_[warp].seen[thread % kLanes][who.thread % kLanes] >= clock) {
    return true;
  }
  if (!ordered_) return false;
  const Known* const own = orders_[thread].known.get();
  const Known* const all = whole_.known.get();
  return (own != nullptr && own->covers(who, clock)) ||
         (all != nullptr && all->covers(who, clock));
}

KnownPtr BlockClocks::all_known(unsigned thread) const {
  return join(orders_[thread].known, whole_.known);
}

void BlockClocks::barrier() {
  floor_ = ++highest_;
  if (!ordered_) return;
  for (const Order& o : orders_) {
    whole_.known = join(whole_.known, o.known);
    whole_.released = join(whole_.released, o.released);
    whole_.released_block = join(whole_.released_block, o.released_block);
  }
}

void BlockClocks::sync_warp(unsigned warp, unsigned lanes) {
  Warp& w = warps_[warp];
  if (!w.synced) std::memset(w.seen, 0, sizeof w.seen);
  w.synced = synced_ = true;
  const unsigned first = warp * kLanes;
  uint32_t joined[kLanes] = {};
  Order order_of_all;
  for (unsigned left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    for (unsigned i = 0; i < kLanes; ++i) {
      joined[i] = std::max(joined[i], w.seen[lane][i]);
    }
    joined[lane] = std::max(joined[lane], clock(first + lane));
    if (!ordered_) continue;
    const Order& o = orders_[first + lane];
    order_of_all.known = join(order_of_all.known, o.known);
    order_of_all.released = join(order_of_all.released, o.released);
    order_of_all.released_block =
        join(order_of_all.released_block, o.released_block);
  }
  for (unsigned left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    std::memcpy(w.seen[lane], joined, sizeof joined);
    clocks_[first + lane] = clock(first + lane) + 1;
    highest_ = std::max(highest_, clocks_[first + lane]);
    if (!ordered_) continue;
    Order& o = orders_[first + lane];
    o.known = order_of_all.known;
    o.released = order_of_all.released;
    o.released_block = order_of_all.released_block;
  }
}

void BlockClocks::fence(unsigned thread, bool for_all_blocks) {
  Order& o = order(thread);
  o.known = join(o.known, o.pending_block);
  if (for_all_blocks) o.known = join(o.known, o.pending);

  auto done = std::make_shared<Known>();
  if (const KnownPtr known = all_known(thread)) *done = *known;
  Known own;
  own.blocks[block_] = floor_;
  own.threads[key_of({block_, thread})] = clock(thread);
  const unsigned warp = thread / kLanes;
  if (warps_[warp].synced) {
    for (unsigned i = 0; i < kLanes; ++i) {
      const uint32_t seen = warps_[warp].seen[thread % kLanes][i];
      if (seen < floor_) continue;
      own.threads[key_of({block_, warp * kLanes + i})] =
          warp * kLanes + i == thread ? clock(thread) : seen;
    }
  }
  done->add(own);
  o.released_block = done;
  if (for_all_blocks) o.released = done;
  clocks_[thread] = clock(thread) + 1;
  highest_ = std::max(highest_, clocks_[thread]);
}

void Places::read(BlockClocks& block, unsigned thread, uintptr_t at,
                  bool is_atomic) {
  const auto it = places_.find(at);
  if (it == places_.end()) return;
  const Place& p = it->second;
  KnownPtr of_block;
  if (p.block == block.block_) of_block = p.released_block;
  BlockClocks::Order& o = block.order(thread);
  if (is_atomic) {
    o.known = join(join(o.known, p.released), of_block);
  } else {
    o.pending = join(o.pending, p.released);
    o.pending_block = join(o.pending_block, of_block);
  }
}

void Places::write(BlockClocks& block, unsigned thread, uintptr_t at,
                   bool is_atomic) {
  KnownPtr released, released_block;
  if (block.ordered_) {
    const BlockClocks::Order& o = block.orders_[thread];
    released = join(o.released, block.whole_.released);
    released_block = join(o.released_block, block.whole_.released_block);
  }
  if (released == nullptr && released_block == nullptr) {
    // An atomic goes on with what those before it released.
    if (!is_atomic && !places_.empty()) places_.erase(at);
    return;
  }
  Place& p = places_[at];
  if (!is_atomic) p = {};
  p.released = join(p.released, released);
  if (p.block != block.block_) p.released_block = nullptr;
  p.block = block.block_;
  p.released_block = join(p.released_block, released_block);
}

}  // namespace fake_cuda
