#include "test/backends/cuda/fake/emulator/race.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace fake_cuda {
namespace {

using sy_on_host::Access;

// Pages that are kept between launches, and made in one: 64 and 256 MB.
constexpr size_t kPagesKept = 4096, kMostPages = 16384;
constexpr size_t kWord = 8;

// A slot: the thread, which of the bytes, how; its clock; its block.
constexpr unsigned kMaskAt = 10, kHowAt = 18, kClockAt = 22, kBlockAt = 41;
constexpr uint64_t kUsed = uint64_t{1} << 21;
constexpr uint32_t kMostClock = (1u << (kBlockAt - kClockAt)) - 1;
constexpr uint32_t kMostBlock = (1u << (64 - kBlockAt)) - 1;

uint32_t thread_of(uint64_t s) { return s & ((1u << kMaskAt) - 1); }
uint32_t mask_of(uint64_t s) { return s >> kMaskAt & 255; }
Access how_of(uint64_t s) { return static_cast<Access>(s >> kHowAt & 7); }
uint32_t clock_of(uint64_t s) { return s >> kClockAt & kMostClock; }
uint32_t block_of(uint64_t s) { return static_cast<uint32_t>(s >> kBlockAt); }

bool is_write(Access a) {
  return a == Access::kWrite || a == Access::kVolatileWrite ||
         a == Access::kAtomic || a == Access::kAtomicBlock;
}
bool is_atomic(Access a) {
  return a == Access::kAtomic || a == Access::kAtomicBlock;
}
bool is_strong(Access a) { return a >= Access::kVolatileRead; }

// Whether the two need an order.
bool conflict(Access a, Access b, bool one_block) {
  if (!is_write(a) && !is_write(b)) return false;
  if (!is_strong(a) || !is_strong(b)) return true;
  return !one_block && (a == Access::kAtomicBlock || b == Access::kAtomicBlock);
}

}  // namespace

const char* words_for(Access how) {
  switch (how) {
    case Access::kRead: return "reads";
    case Access::kWrite: return "writes";
    case Access::kConstantRead: return "reads by __ldg";
    case Access::kVolatileRead: return "reads (volatile)";
    case Access::kVolatileWrite: return "writes (volatile)";
    case Access::kAtomic: return "changes by an atomic";
    default: return "changes by an atomic of a block";
  }
}

RaceCheck::~RaceCheck() { forget_pages(); }

void RaceCheck::forget_pages() {
  for (const auto& [number, page] : pages_) std::free(page.cells);
  pages_.clear();
}

void RaceCheck::begin() {
  if (pages_.size() > kPagesKept || ++launch_ == 0) {
    forget_pages();
    launch_ = 1;
  }
  std::fill(std::begin(recent_), std::end(recent_), Recent{});
  shared_bytes_ = 0;
  places_.begin();
}

RaceCheck::Cell* RaceCheck::find_page(uintptr_t number) {
  constexpr size_t kCells = (size_t{1} << kPageBits) / kWord;
  const auto it = pages_.find(number);
  if (it != pages_.end()) {
    Page& page = it->second;
    if (page.launch != launch_) {
      std::memset(page.cells, 0, kCells * sizeof(Cell));
    }
    page.launch = launch_;
    return page.cells;
  }
  if (pages_.size() == kMostPages) return nullptr;
  auto* const cells = static_cast<Cell*>(std::calloc(kCells, sizeof(Cell)));
  if (cells != nullptr) pages_[number] = {cells, launch_};
  return cells;
}

RaceCheck::Cell* RaceCheck::cell_of(uintptr_t at) {
  const uintptr_t page = at >> kPageBits;
  Recent& r = recent_[page % std::size(recent_)];
  if (r.page != page || r.cells == nullptr) r = {page, find_page(page)};
  if (r.cells == nullptr) return nullptr;
  return r.cells + at % (size_t{1} << kPageBits) / kWord;
}

bool RaceCheck::touch_cell(BlockClocks& block, uint64_t mine, Cell& cell,
                           bool is_shared, EarlierAccess* earlier) {
  const uint32_t thread = thread_of(mine);
  const Access how = how_of(mine);
  uint64_t* place = nullptr;  // where to remember it
  for (uint64_t& s : cell.slots) {
    const bool one_block = block_of(s) == block_of(mine);
    if (s == 0 || (is_shared && !one_block)) {
      s = 0;
      if (place == nullptr) place = &s;
      continue;
    }
    if ((mask_of(s) & mask_of(mine)) == 0) continue;
    const ThreadName who{block_of(s), thread_of(s)};
    const Access before = how_of(s);
    const bool ordered = block.before(who, clock_of(s), thread);
    if ((!ordered && conflict(before, how, one_block)) ||
        (how == Access::kConstantRead && is_write(before))) {
      *earlier = {who, before};
      return true;
    }
    // Any access that is ordered after this one is also ordered after that one.
    const bool covered = (mask_of(s) & ~mask_of(mine)) == 0;
    if (ordered && covered && (is_write(how) || !is_write(before)) &&
        (!is_strong(how) || is_strong(before))) {
      if (place != nullptr && *place != 0) s = 0;
      if (place == nullptr || *place == 0) place = &s;
    }
  }
  if (place == nullptr) {
    place = &cell.slots[(clock_of(mine) + thread) % kSlots];
  }
  *place = mine;
  return false;
}

void RaceCheck::note_place(BlockClocks& block, unsigned thread,
                           const Touch& touch, uintptr_t at) {
  const bool atomic = is_atomic(touch.how);
  if (atomic || !is_write(touch.how)) places_.read(block, thread, at, atomic);
  if (is_write(touch.how)) places_.write(block, thread, at, atomic);
}

bool RaceCheck::races(BlockClocks& block, unsigned thread, const Touch& touch,
                      EarlierAccess* earlier, uintptr_t* at) {
  const uint32_t clock = block.clock(thread);
  if (clock > kMostClock || block.block() > kMostBlock) return false;
  const uintptr_t begin = touch.at, end = touch.at + touch.bytes;
  // Resident blocks have their shared memory at the same addresses.
  const uintptr_t elsewhere = uintptr_t{touch.shared} << 50;
  const uint64_t me =
      kUsed | thread | static_cast<uint64_t>(touch.how) << kHowAt |
      uint64_t{clock} << kClockAt | uint64_t{block.block()} << kBlockAt;
  for (uintptr_t word = begin / kWord * kWord; word < end; word += kWord) {
    Cell* const cell = cell_of(word ^ elsewhere);
    if (cell == nullptr) continue;
    unsigned mask = 255;
    if (word < begin) mask &= 255u << (begin - word);
    if (word + kWord > end) mask &= 255u >> (word + kWord - end);
    const uint64_t mine = me | uint64_t{mask} << kMaskAt;
    const uint64_t* const s = cell->slots;
    if (s[0] == mine || s[1] == mine || s[2] == mine || s[3] == mine) continue;
    if (touch.is_variable && touch.shared == 1 &&
        (s[0] | s[1] | s[2] | s[3]) == 0) {
      shared_bytes_ += kWord;
    }
    if (touch_cell(block, mine, *cell, touch.shared != 0, earlier)) {
      *at = word < begin ? begin : word;
      return true;
    }
  }
  if (is_strong(touch.how)) note_place(block, thread, touch, begin ^ elsewhere);
  return false;
}

}  // namespace fake_cuda
