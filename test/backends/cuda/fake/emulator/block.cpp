#include "test/backends/cuda/fake/emulator/block.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
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

// The word at the end of each stack; overwritten when the stack overflows.
constexpr uint64_t kCanary = 0x5ca1ab1e0ddba11;
constexpr unsigned kLanes = 32;
// The bytes of shared memory before a block writes it.
constexpr int kJunk = 0xcd;
// Blocks take turns when a thread ends or waits: once in so many times.
constexpr unsigned kTurns = 8;
// Blocks that only spin for so long wait for others that cannot begin.
constexpr std::chrono::seconds kMostSpinning{10};

Strand* current() { return static_cast<Strand*>(&sy_on_host::self()); }

char* room_of(Strand* s) {
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(s) &
                                 ~(kRoomBytes - 1));
}
size_t stack_bytes(Strand* s) {
  return static_cast<size_t>(reinterpret_cast<char*>(s) - room_of(s));
}
uint64_t& canary(Strand* s) { return *reinterpret_cast<uint64_t*>(room_of(s)); }

// While it lives the runner runs, on a strand's stack, and not the kernel.
class InRunner {
 public:
  explicit InRunner(Strand* me) : me_(me) {
    me_->runner->set_in_kernel(nullptr);
    me_->runner->settle(me_);
  }
  ~InRunner() { me_->runner->set_in_kernel(me_); }
  InRunner(const InRunner&) = delete;
  InRunner& operator=(const InRunner&) = delete;

 private:
  Strand* me_;
};

constexpr sy_on_host::Operations kOperations = {
    [](Barrier kind, int predicate) {
      Strand* me = current();
      const InRunner in_runner(me);
      return me->runner->barrier(me, kind, predicate);
    },
    [](Collective kind, unsigned mask, uint64_t value, int source) {
      Strand* me = current();
      const InRunner in_runner(me);
      return me->runner->collective(me, kind, mask, value, source);
    },
    [] {
      Strand* me = current();
      const InRunner in_runner(me);
      me->runner->yield(me);
    },
    [](const char* why) {
      Strand* me = current();
      me->runner->set_in_kernel(nullptr);
      me->runner->fail(me, Ending::kFailed, why);
    },
    [](sy_on_host::Access how, const void* p, size_t bytes, const void* from) {
      Strand* me = current();
      const InRunner in_runner(me);
      me->runner->access(me, how, p, bytes, from);
    },
    [](bool for_all_blocks) {
      Strand* me = current();
      const InRunner in_runner(me);
      me->runner->fence(me, for_all_blocks);
    },
};

}  // namespace

BlockRunner::BlockRunner() = default;

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
  // The first strand of a launch is entered from run_blocks().
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
    while (current_->living != 0 && current_->started < threads_) {
      begin(me);
      in_kernel_ = me;
      grid_->kernel(grid_->params);
      in_kernel_ = nullptr;
      settle(me);
      if (canary(me) != kCanary) {
        fail(me, Ending::kFailed, "the stack has overflown");
      }
      finished(me);
    }
    idle_.push_back(me);
    if (alive_ == 0) {
      leave(me);
      continue;
    }
    Strand* to = next();
    if (to == nullptr) fail(me, Ending::kFailed, describe_waiting());
    enter(me, to);
  }
}

void BlockRunner::begin(Strand* me) {
  Block& b = *current_;
  const unsigned number = shuffled_[b.position];
  b.position += b.step;
  if (b.position >= threads_) b.position -= threads_;
  ++b.started;
  me->block = &b;
  me->number = number;
  me->warp = number / kLanes;
  me->lane = number % kLanes;
  me->calls = 0;
  me->is_checked = checks_;
  me->block_index = b.index;
  me->block_dim = grid_->threads;
  me->grid_dim = grid_->blocks;
  me->shared = b.shared;
  me->memory_begin = grid_->memory_begin;
  me->memory_end = grid_->memory_end;
  me->thread_index = thread_index(number);
}

uint3 BlockRunner::thread_index(unsigned number) const {
  const dim3& t = grid_->threads;
  if (t.y == 1 && t.z == 1) return {number, 0, 0};
  return {number % t.x, number / t.x % t.y, number / t.x / t.y};
}

uint3 BlockRunner::index_of(uint64_t block) const {
  const dim3& b = grid_->blocks;
  return {static_cast<unsigned>(block % b.x),
          static_cast<unsigned>(block / b.x % b.y),
          static_cast<unsigned>(block / b.x / b.y)};
}

void BlockRunner::finished(Strand* me) {
  Block& b = *me->block;
  ++progress_;
  --b.living;
  Warp& warp = b.warps[me->warp];
  warp.living &= ~(1u << me->lane);
  if (!warp.groups.empty()) check_groups(b, me->warp);
  if (b.living != 0) {
    if (b.at_barrier.size() == b.living) release_barrier(b);
  } else if (begun_ < blocks_) {
    begin_block(b);
  } else {
    --alive_;
  }
  if (grid_->seed != 0 && alive_ > 1 &&
      random_below(kTurns * threads_) < kTurns) {
    if (Block* other = other_block()) set_current(other);
  }
}

bool BlockRunner::can_run(const Block& b) const {
  return b.living != 0 && (!b.ready.empty() || b.started < threads_);
}

// One that can run, from a place that is drawn; not the current one.
Block* BlockRunner::other_block() {
  const unsigned n = places_;
  if (alive_ == 0 || n < 2) return nullptr;
  const unsigned from = grid_->seed == 0 ? 0 : random_below(n);
  for (unsigned i = 0; i < n; ++i) {
    Block* const b = resident_[(from + i) % n].get();
    if (b != current_ && can_run(*b)) return b;
  }
  return nullptr;
}

Strand* BlockRunner::next() {
  const bool stays = can_run(*current_);
  if (!stays || (grid_->seed != 0 && alive_ > 1 && random_below(kTurns) == 0)) {
    Block* const other = other_block();
    if (other != nullptr) {
      set_current(other);
    } else if (!stays) {
      return nullptr;
    }
  }
  Block& b = *current_;
  const auto n = static_cast<unsigned>(b.ready.size());
  if (n == 0 || (b.started != threads_ && (random() & 1) == 0)) {
    return idle_strand();
  }
  const unsigned i = grid_->seed == 0 ? 0 : random_below(n);
  Strand* const s = b.ready[i];
  if (grid_->seed == 0) {
    b.ready.erase(b.ready.begin());
  } else {
    b.ready[i] = b.ready.back();
    b.ready.pop_back();
  }
  return s;
}

void BlockRunner::wait(Strand* me) {
  Strand* const to = next();
  if (to == nullptr) fail(me, Ending::kFailed, describe_waiting());
  enter(me, to);
}

void BlockRunner::yield(Strand* me) {
  notice_spinning(me);
  Strand* const to = next();
  if (to == nullptr) return;
  me->block->ready.push_back(me);
  enter(me, to);
}

void BlockRunner::preempt(Strand* me) {
  draw_quantum();
  if (quantum_ == 0) return;
  me->block->ready.push_back(me);
  enter(me, next());
}

// Threads that wait for a block that begins when another ends.
void BlockRunner::notice_spinning(Strand* me) {
  if ((++spins_ & 0xffff) != 0 || begun_ == blocks_) return;
  const auto now = std::chrono::steady_clock::now();
  if (progress_ != progress_seen_ || spins_ == 0x10000) {
    progress_seen_ = progress_;
    progress_at_ = now;
  } else if (now - progress_at_ > kMostSpinning) {
    fail(me, Ending::kFailed,
         "blocks spin for ever: " + std::to_string(alive_) +
             " run, and others begin only when these end");
  }
}

int BlockRunner::barrier(Strand* me, Barrier kind, int predicate) {
  Block& b = *me->block;
  if (b.at_barrier.empty()) {
    b.barrier_kind = kind;
    b.barrier_count = 0;
  } else if (kind != b.barrier_kind) {
    fail(me, Ending::kFailed,
         "waits at another form of __syncthreads than " +
             place(*b.at_barrier.front()));
  }
  if (predicate != 0) ++b.barrier_count;
  b.at_barrier.push_back(me);
  if (b.at_barrier.size() == b.living) release_barrier(b);
  wait(me);
  return b.barrier_result;
}

// Nobody waits at the next barrier before all have the result of this one.
void BlockRunner::release_barrier(Block& b) {
  switch (b.barrier_kind) {
    case Barrier::kSync: break;
    case Barrier::kCount: b.barrier_result = b.barrier_count; break;
    case Barrier::kAnd:
      b.barrier_result =
          b.barrier_count == static_cast<int>(b.at_barrier.size());
      break;
    case Barrier::kOr: b.barrier_result = b.barrier_count != 0; break;
  }
  if (checks_) b.clocks.barrier();
  b.ready.insert(b.ready.end(), b.at_barrier.begin(), b.at_barrier.end());
  b.at_barrier.clear();
}

std::string BlockRunner::place(const Strand& s) const {
  char text[256];
  std::snprintf(text, sizeof text,
                "kernel '%s', block (%u, %u, %u), thread (%u, %u, %u)",
                grid_->name, s.block_index.x, s.block_index.y, s.block_index.z,
                s.thread_index.x, s.thread_index.y, s.thread_index.z);
  return text;
}

std::string BlockRunner::describe_waiting() const {
  std::string text = "threads wait for each other for ever: ";
  for (unsigned i = 0; i < places_; ++i) {
    const Block& b = *resident_[i];
    if (b.living == 0) continue;
    text += std::to_string(b.at_barrier.size()) + " of " +
            std::to_string(b.living) + " at __syncthreads";
    for (size_t w = 0; w < b.warps.size(); ++w) {
      for (const Group& g : b.warps[w].groups) {
        char part[160];
        std::snprintf(part, sizeof part,
                      "; lanes 0x%x of warp %zu at %s with the mask 0x%x",
                      g.arrived, w, name_of(g.kind), g.mask);
        text += part;
      }
    }
    break;
  }
  return text;
}

// The variables of a block that runs are where the kernel looks for them.
void BlockRunner::set_current(Block* b) {
  if (current_ == b) return;
  if (variables_.bytes != 0) {
    current_->variables.resize(variables_.bytes);
    std::memcpy(current_->variables.data(), variables_.begin, variables_.bytes);
    if (!b->variables.empty()) {
      std::memcpy(variables_.begin, b->variables.data(), variables_.bytes);
    }
  }
  current_ = b;
}

void BlockRunner::begin_block(Block& b) {
  const uint64_t number = at_;
  at_ = (at_ + step_) % blocks_;
  b.number = number;
  b.index = index_of(number);
  b.started = 0;
  b.living = threads_;
  b.position = 0;
  b.step = threads_ == 1 ? 0 : 1;
  if (grid_->seed != 0) {
    b.position = random_below(threads_);
    do {
      b.step = 1 + random_below(threads_);
    } while (std::gcd(b.step, threads_) != 1);
    if (b.step == threads_) b.step = threads_ == 1 ? 0 : 1;
  }
  b.warps.resize((threads_ + kLanes - 1) / kLanes);
  for (unsigned w = 0; w < b.warps.size(); ++w) {
    const unsigned lanes = std::min(kLanes, threads_ - w * kLanes);
    b.warps[w].living = lanes == kLanes ? ~0u : (1u << lanes) - 1;
    b.warps[w].groups.clear();
  }
  if (grid_->shared_bytes != 0) {
    std::memset(b.shared, kJunk, grid_->shared_bytes);
  }
  if (checks_) b.clocks.begin(static_cast<uint32_t>(number), threads_);
  if (grid_->before_block != nullptr) grid_->before_block(grid_->data, begun_);
  ++begun_;
}

void BlockRunner::run_blocks() {
  home_bottom_ = nullptr;
  Strand* first = idle_strand();
  running_ = first;
  before_switch(&home_sanitizer_, room_of(first), stack_bytes(first));
  sy_fiber_switch(&home_, first->left_at);
  after_switch(home_sanitizer_, nullptr, nullptr);
  in_kernel_ = nullptr;
  if (outcome_.ending == Ending::kDone) return;
  if (outcome_.text.empty()) {
    char text[64];
    std::snprintf(text, sizeof text, "access to address %p", fault_address_);
    outcome_.text = place(*running_) + ": " + text;
  }
  reset_strands();
}

void BlockRunner::order_blocks() {
  const dim3& b = grid_->blocks;
  blocks_ = uint64_t{b.x} * b.y * b.z;
  begun_ = at_ = 0;
  step_ = 1;
  if (grid_->order == BlockOrder::kDescending) {
    at_ = blocks_ - 1;
    step_ = blocks_ - 1;
  } else if (grid_->order == BlockOrder::kShuffled) {
    at_ = random() % blocks_;
    do {
      step_ = 1 + random() % blocks_;
    } while (std::gcd(step_, blocks_) != 1);
  }
}

void BlockRunner::prepare(const Grid& grid) {
  grid_ = &grid;
  const dim3& t = grid.threads;
  threads_ = t.x * t.y * t.z;
  variables_ = grid.variables;
  checks_ = grid.most_checked != 0;
  random_state_ = grid.seed;
  for (const char* c = grid.name; *c != 0; ++c) {
    random_state_ = random_state_ * 131 + static_cast<unsigned char>(*c);
  }
  shuffled_.resize(threads_);
  std::iota(shuffled_.begin(), shuffled_.end(), 0u);
  if (grid.seed != 0) {
    for (unsigned i = threads_ - 1; i > 0; --i) {
      std::swap(shuffled_[i], shuffled_[random_below(i + 1)]);
    }
  }
  order_blocks();
  outcome_ = {};
  twice_.bytes = 0;
  spins_ = progress_ = progress_seen_ = 0;
  if (checks_) races_.begin();
  draw_quantum();
}

Outcome BlockRunner::run(const Grid& grid) {
  prepare(grid);
  places_ = static_cast<unsigned>(std::min<uint64_t>(grid.resident, blocks_));
  while (resident_.size() < places_) {
    resident_.push_back(std::make_unique<Block>());
  }
  for (unsigned i = 0; i < places_; ++i) {
    Block& b = *resident_[i];
    b.place = i;
    b.ready.clear();
    b.at_barrier.clear();
    b.variables.clear();
    b.shared_room.resize(grid.shared_bytes + 16);
    b.shared = b.shared_room.data();
    b.shared += -reinterpret_cast<uintptr_t>(b.shared) & 15;
    if (i == 0) {
      current_ = &b;
    } else {
      set_current(&b);
    }
    begin_block(b);
  }
  alive_ = places_;
  set_current(resident_[0].get());
  run_blocks();
  return std::move(outcome_);
}

}  // namespace fake_cuda
