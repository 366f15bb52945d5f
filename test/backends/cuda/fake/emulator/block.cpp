#include "test/backends/cuda/fake/emulator/block.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "test/backends/cuda/fake/emulator/fiber.h"

namespace fake_cuda {
namespace {

using sy_on_host::Barrier;
using sy_on_host::Collective;
using sy_on_host::kRoomBytes;

// At the end of each stack; overwritten when it overflows.
constexpr uint64_t kCanary = 0x5ca1ab1e0ddba11;
constexpr unsigned kLanes = 32;
// What shared memory holds before a block writes it.
constexpr int kJunk = 0xcd;
// What a lane reads from a lane that did not take part.
constexpr uint64_t kNoValue = 0xdeadbeefdeadbeef;

Strand* current() { return static_cast<Strand*>(&sy_on_host::self()); }

char* room_of(Strand* s) {
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(s) &
                                 ~(kRoomBytes - 1));
}
size_t stack_bytes(Strand* s) {
  return static_cast<size_t>(reinterpret_cast<char*>(s) - room_of(s));
}
uint64_t& canary(Strand* s) { return *reinterpret_cast<uint64_t*>(room_of(s)); }

constexpr sy_on_host::Operations kOperations = {
    [](Barrier kind, int predicate) {
      Strand* me = current();
      return me->runner->barrier(me, kind, predicate);
    },
    [](Collective kind, unsigned mask, uint64_t value, int source) {
      Strand* me = current();
      return me->runner->collective(me, kind, mask, value, source);
    },
    [] {
      Strand* me = current();
      me->runner->yield(me);
    },
    [](const char* why) {
      Strand* me = current();
      me->runner->fail(me, Ending::kFailed, why);
    },
};

const char* name_of(Collective kind) {
  switch (kind) {
    case Collective::kSync: return "__syncwarp";
    case Collective::kShuffle: return "__shfl_*_sync";
    case Collective::kBallot: return "__ballot_sync (or any, all)";
    case Collective::kMatchAny: return "__match_any_sync";
    default: return "__reduce_*_sync";
  }
}

uint64_t combine(Collective kind, uint64_t a, uint64_t b) {
  const auto sa = static_cast<int64_t>(a), sb = static_cast<int64_t>(b);
  switch (kind) {
    case Collective::kAdd: return a + b;
    case Collective::kMin: return sb < sa ? b : a;
    case Collective::kMax: return sa < sb ? b : a;
    case Collective::kMinUnsigned: return b < a ? b : a;
    case Collective::kMaxUnsigned: return a < b ? b : a;
    case Collective::kAnd: return a & b;
    case Collective::kOr: return a | b;
    default: return a ^ b;
  }
}

}  // namespace

BlockRunner::BlockRunner() { ready_.reserve(1024); }

uint64_t BlockRunner::random() {
  uint64_t x = (random_state_ += 0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

// Sixteen at once: a mapping each would exhaust what the kernel allows.
void BlockRunner::make_strands() {
  constexpr size_t kAtOnce = 16;
  constexpr size_t kBytes = (kAtOnce + 1) * kRoomBytes;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("fake_cuda: no memory for stacks");
    std::abort();
  }
  auto room = reinterpret_cast<uintptr_t>(memory);
  room = (room + kRoomBytes - 1) & ~(kRoomBytes - 1);
  for (size_t i = 0; i < kAtOnce; ++i, room += kRoomBytes) {
    auto* s = new (sy_on_host::thread_of(room)) Strand{};
    s->runner = this;
    s->operations = &kOperations;
    strands_.push_back(s);
    reset(s);
  }
}

void BlockRunner::reset(Strand* s) {
  clean_stack(room_of(s), stack_bytes(s));
  s->left_at =
      first_frame(reinterpret_cast<char*>(s), &BlockRunner::strand_main);
  s->sanitizer = nullptr;
  canary(s) = kCanary;
  idle_.push_back(s);
}

void BlockRunner::reset_strands() {
  idle_.clear();
  for (Strand* s : strands_) reset(s);
  ready_.clear();
  at_barrier_.clear();
}

Strand* BlockRunner::idle_strand() {
  if (idle_.empty()) make_strands();
  Strand* s = idle_.back();
  idle_.pop_back();
  return s;
}

void BlockRunner::enter(Strand* me, Strand* to) {
  if (me == to) return;
  running_ = to;
  before_switch(&me->sanitizer, room_of(to), stack_bytes(to));
  sy_fiber_switch(&me->left_at, to->left_at);
  after_switch(me->sanitizer, nullptr, nullptr);
}

void BlockRunner::leave(Strand* me) {
  before_switch(&me->sanitizer, home_bottom_, home_bytes_);
  sy_fiber_switch(&me->left_at, home_);
  after_switch(me->sanitizer, nullptr, nullptr);
}

void BlockRunner::before_leaving() noexcept {
  before_switch(nullptr, home_bottom_, home_bytes_);
}

void BlockRunner::fail(Strand* me, Ending ending, std::string&& text) {
  outcome_.ending = ending;
  outcome_.text = place(*me) + ": " + text;
  std::string().swap(text);
  before_leaving();
  void* never;
  sy_fiber_switch(&never, home_);
  __builtin_unreachable();
}

void BlockRunner::note_fault(Ending ending, const void* address) noexcept {
  outcome_.ending = ending;
  fault_address_ = address;
}

void BlockRunner::strand_main() {
  Strand* me = current();
  const void* bottom;
  size_t bytes;
  after_switch(nullptr, &bottom, &bytes);
  BlockRunner* runner = me->runner;
  // The first strand of a block is entered from run_block().
  if (runner->home_bottom_ == nullptr) {
    runner->home_bottom_ = bottom;
    runner->home_bytes_ = bytes;
  }
  runner->loop(me);
}

// A strand runs threads, one after the other, as long as they do not wait: then
// the thread keeps the strand and another strand goes on.
void BlockRunner::loop(Strand* me) {
  for (;;) {
    while (started_ < threads_) {
      begin(me);
      grid_->kernel(grid_->params);
      if (canary(me) != kCanary) {
        fail(me, Ending::kFailed, "the stack has overflown");
      }
      finished(me);
    }
    idle_.push_back(me);
    if (living_ == 0) {
      leave(me);
      continue;
    }
    Strand* to = next();
    if (to == nullptr) {
      fail(me, Ending::kFailed, describe_waiting());
    }
    if (to == me) idle_.pop_back();
    enter(me, to);
  }
}

void BlockRunner::begin(Strand* me) {
  unsigned number = shuffled_[position_];
  position_ += step_;
  if (position_ >= threads_) position_ -= threads_;
  ++started_;
  me->warp = number / kLanes;
  me->lane = number % kLanes;
  me->calls = 0;
  me->block_index = block_;
  me->block_dim = grid_->threads;
  me->grid_dim = grid_->blocks;
  me->shared = shared_;
  me->memory_begin = grid_->memory_begin;
  me->memory_end = grid_->memory_end;
  const dim3& t = grid_->threads;
  if (t.y == 1 && t.z == 1) {
    me->thread_index = {number, 0, 0};
  } else {
    me->thread_index = {number % t.x, number / t.x % t.y, number / t.x / t.y};
  }
}

void BlockRunner::finished(Strand* me) {
  --living_;
  Warp& warp = warps_[me->warp];
  warp.living &= ~(1u << me->lane);
  if (!warp.groups.empty()) check_groups(warp);
  if (living_ != 0 && at_barrier_.size() == living_) release_barrier();
}

Strand* BlockRunner::next() {
  const auto n = static_cast<unsigned>(ready_.size());
  if (n != 0 && (started_ == threads_ || (random() & 1) != 0)) {
    const unsigned i = grid_->seed == 0 ? 0 : random_below(n);
    Strand* s = ready_[i];
    if (grid_->seed == 0) {
      ready_.erase(ready_.begin());
    } else {
      ready_[i] = ready_.back();
      ready_.pop_back();
    }
    return s;
  }
  return started_ == threads_ ? nullptr : idle_strand();
}

int BlockRunner::barrier(Strand* me, Barrier kind, int predicate) {
  if (at_barrier_.empty()) {
    barrier_kind_ = kind;
    barrier_count_ = 0;
  } else if (kind != barrier_kind_) {
    fail(me, Ending::kFailed,
         "waits at another form of __syncthreads than " +
             place(*at_barrier_.front()));
  }
  if (predicate != 0) ++barrier_count_;
  at_barrier_.push_back(me);
  if (at_barrier_.size() == living_) release_barrier();
  Strand* to = next();
  if (to == nullptr) fail(me, Ending::kFailed, describe_waiting());
  enter(me, to);
  return barrier_result_;
}

// Nobody waits at the next barrier before all have the result of this one.
void BlockRunner::release_barrier() {
  switch (barrier_kind_) {
    case Barrier::kSync: break;
    case Barrier::kCount: barrier_result_ = barrier_count_; break;
    case Barrier::kAnd:
      barrier_result_ = barrier_count_ == static_cast<int>(at_barrier_.size());
      break;
    case Barrier::kOr: barrier_result_ = barrier_count_ != 0; break;
  }
  ready_.insert(ready_.end(), at_barrier_.begin(), at_barrier_.end());
  at_barrier_.clear();
}

uint64_t BlockRunner::collective(Strand* me, Collective kind, unsigned mask,
                                 uint64_t value, int source) {
  const unsigned bit = 1u << me->lane;
  if ((mask & bit) == 0) {
    fail(
        me, Ending::kFailed,
        std::string(name_of(kind)) + " with a mask that lacks the lane itself");
  }
  Warp& warp = warps_[me->warp];
  const unsigned lane = me->lane;
  warp.waiting[lane] = me;
  warp.values[lane] = value;
  warp.sources[lane] = source;
  Group* group = nullptr;
  for (Group& g : warp.groups) {
    if (g.kind == kind && g.mask == mask) group = &g;
  }
  if (group == nullptr) {
    group = &warp.groups.emplace_back(Group{kind, mask, 0});
  }
  group->arrived |= bit;
  if (group->arrived == (mask & warp.living)) {
    const Group whole = *group;
    *group = warp.groups.back();
    warp.groups.pop_back();
    finish_group(warp, whole);
  }
  Strand* to = next();
  if (to == nullptr) fail(me, Ending::kFailed, describe_waiting());
  enter(me, to);
  return warp.results[lane];
}

void BlockRunner::finish_group(Warp& warp, const Group& group) {
  const uint64_t* const values = warp.values;
  uint64_t all = 0;
  bool first = true;
  if (group.kind == Collective::kBallot || group.kind >= Collective::kAdd) {
    for (unsigned i = 0; i < kLanes; ++i) {
      if ((group.arrived >> i & 1) == 0) continue;
      if (group.kind == Collective::kBallot) {
        all |= uint64_t{values[i] != 0} << i;
      } else {
        all = first ? values[i] : combine(group.kind, all, values[i]);
      }
      first = false;
    }
  }
  for (unsigned i = 0; i < kLanes; ++i) {
    if ((group.arrived >> i & 1) == 0) continue;
    uint64_t result = all;
    if (group.kind == Collective::kShuffle) {
      const auto from = static_cast<unsigned>(warp.sources[i]) & 31;
      result = group.arrived >> from & 1 ? values[from] : kNoValue;
    } else if (group.kind == Collective::kMatchAny) {
      for (unsigned j = 0; j < kLanes; ++j) {
        if ((group.arrived >> j & 1) != 0 && values[j] == values[i]) {
          result |= uint64_t{1} << j;
        }
      }
    }
    warp.results[i] = result;
    ready_.push_back(warp.waiting[i]);
  }
}

// A lane has ended: others wait for it no more.
void BlockRunner::check_groups(Warp& warp) {
  for (size_t i = 0; i < warp.groups.size();) {
    const Group g = warp.groups[i];
    if (g.arrived == (g.mask & warp.living)) {
      warp.groups[i] = warp.groups.back();
      warp.groups.pop_back();
      finish_group(warp, g);
    } else {
      ++i;
    }
  }
}

void BlockRunner::yield(Strand* me) {
  Strand* to = next();
  if (to == nullptr) return;
  ready_.push_back(me);
  enter(me, to);
}

std::string BlockRunner::place(const Strand& s) const {
  char text[256];
  std::snprintf(text, sizeof text,
                "kernel '%s', block (%u, %u, %u), thread (%u, %u, %u)",
                grid_->name, block_.x, block_.y, block_.z, s.thread_index.x,
                s.thread_index.y, s.thread_index.z);
  return text;
}

std::string BlockRunner::describe_waiting() const {
  std::string text = "threads wait for each other for ever: " +
                     std::to_string(at_barrier_.size()) + " of " +
                     std::to_string(living_) + " at __syncthreads";
  for (size_t w = 0; w < warps_.size(); ++w) {
    for (const Group& g : warps_[w].groups) {
      char part[160];
      std::snprintf(part, sizeof part,
                    "; lanes 0x%x of warp %zu at %s with the mask 0x%x",
                    g.arrived, w, name_of(g.kind), g.mask);
      text += part;
    }
  }
  return text;
}

bool BlockRunner::run_block() {
  const unsigned threads = threads_;
  started_ = 0;
  living_ = threads;
  if (grid_->seed != 0) {
    position_ = random_below(threads);
    do {
      step_ = 1 + random_below(threads);
    } while (std::gcd(step_, threads) != 1);
    if (step_ == threads) step_ = threads == 1 ? 0 : 1;
  }
  for (unsigned w = 0; w < warps_.size(); ++w) {
    const unsigned lanes = std::min(kLanes, threads - w * kLanes);
    warps_[w].living = lanes == kLanes ? ~0u : (1u << lanes) - 1;
    warps_[w].groups.clear();
  }
  if (grid_->shared_bytes != 0) {
    std::memset(shared_, kJunk, grid_->shared_bytes);
  }
  home_bottom_ = nullptr;
  Strand* first = idle_strand();
  running_ = first;
  before_switch(&home_sanitizer_, room_of(first), stack_bytes(first));
  sy_fiber_switch(&home_, first->left_at);
  after_switch(home_sanitizer_, nullptr, nullptr);
  if (outcome_.ending == Ending::kDone) return true;
  if (outcome_.text.empty()) {
    char text[64];
    std::snprintf(text, sizeof text, "access to address %p", fault_address_);
    outcome_.text = place(*running_) + ": " + text;
  }
  reset_strands();
  return false;
}

Outcome BlockRunner::run(const Grid& grid) {
  grid_ = &grid;
  const dim3& t = grid.threads;
  threads_ = t.x * t.y * t.z;
  shared_room_.resize(grid.shared_bytes + 16);
  shared_ = shared_room_.data();
  shared_ += -reinterpret_cast<uintptr_t>(shared_) & 15;
  random_state_ = grid.seed;
  for (const char* c = grid.name; *c != 0; ++c) {
    random_state_ = random_state_ * 131 + static_cast<unsigned char>(*c);
  }
  shuffled_.resize(threads_);
  std::iota(shuffled_.begin(), shuffled_.end(), 0u);
  position_ = 0;
  step_ = threads_ == 1 ? 0 : 1;
  if (grid.seed != 0) {
    for (unsigned i = threads_ - 1; i > 0; --i) {
      std::swap(shuffled_[i], shuffled_[random_below(i + 1)]);
    }
  }
  warps_.resize((threads_ + kLanes - 1) / kLanes);
  outcome_ = {};

  const dim3& b = grid.blocks;
  const uint64_t blocks = uint64_t{b.x} * b.y * b.z;
  uint64_t at = 0, step = 1;
  if (grid.order == BlockOrder::kDescending) {
    at = blocks - 1;
    step = blocks - 1;
  } else if (grid.order == BlockOrder::kShuffled) {
    at = random() % blocks;
    do {
      step = 1 + random() % blocks;
    } while (std::gcd(step, blocks) != 1);
  }
  for (uint64_t i = 0; i < blocks; ++i) {
    block_ = {static_cast<unsigned>(at % b.x),
              static_cast<unsigned>(at / b.x % b.y),
              static_cast<unsigned>(at / b.x / b.y)};
    if (grid.before_block != nullptr) grid.before_block(grid.data, i);
    if (!run_block()) break;
    at = (at + step) % blocks;
  }
  return std::move(outcome_);
}

}  // namespace fake_cuda
