#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "test/backends/cuda/fake/emulator/clocks.h"
#include "test/backends/cuda/fake/emulator/executor.h"
#include "test/backends/cuda/fake/emulator/race.h"

namespace fake_cuda {

class BlockRunner;
struct Block;

const char* name_of(sy_on_host::Collective kind);
// The function, or the place in the file that a kernel was loaded from.
std::string name_code(const void* from);

// A coroutine: runs threads of blocks. Lies above its stack.
struct Strand : sy_on_host::Thread {
  BlockRunner* runner;
  Block* block;
  void* left_at;    // the stack's pointer while it does not run
  void* sanitizer;  // of before_switch
  unsigned warp, number;
};
static_assert(sizeof(Strand) <= sy_on_host::kThreadBytes);

// Lanes of a warp that wait for the same collective.
struct Group {
  sy_on_host::Collective kind;
  unsigned mask;
  unsigned arrived;
};
struct Warp {
  unsigned living;
  std::vector<Group> groups;
  Strand* waiting[32];
  // The value that each lane brought, and the one that it gets.
  uint64_t values[32], results[32];
  int sources[32];
};

// A block that runs.
struct Block {
  unsigned place;  // among the resident ones
  uint64_t number;
  uint3 index;
  unsigned started, position, step;  // of shuffled threads
  unsigned living = 0;               // 0: none is left to begin
  std::vector<Strand*> ready;
  std::vector<Strand*> at_barrier;
  sy_on_host::Barrier barrier_kind;
  int barrier_count, barrier_result;
  std::vector<Warp> warps;
  BlockClocks clocks;
  char* shared;  // dynamic
  std::vector<char> shared_room;
  std::vector<char> variables;  // while another block runs
};

// Runs blocks on the thread that calls run(). One at a time; keeps its stacks.
class BlockRunner {
 public:
  BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  Outcome run(const Grid& grid);

  // The operations of threads of blocks.
  int barrier(Strand* me, sy_on_host::Barrier kind, int predicate);
  uint64_t collective(Strand* me, sy_on_host::Collective kind, unsigned mask,
                      uint64_t value, int source);
  void yield(Strand* me);
  void access(Strand* me, sy_on_host::Access how, const void* p, size_t bytes,
              const void* from);
  void fence(Strand* me, bool for_all_blocks);
  // Called before a strand does anything else: its last write, if another
  // thread had written there, must have left the same value.
  void settle(Strand* me) {
    if (twice_.bytes != 0) settle_write(me);
  }
  // Leaves the blocks; the strands that ran are begun afresh.
  // `text` is emptied: nothing on the stack is destroyed.
  [[noreturn]] void fail(Strand* me, Ending ending, std::string&& text);
  // The strand whose kernel runs; nullptr while the runner does.
  Strand* in_kernel() const { return in_kernel_; }
  void set_in_kernel(Strand* s) { in_kernel_ = s; }

  // For signals: notes a fault of the running thread. The handler goes on at
  // resume_at(), with sy_fiber_resume.
  void note_fault(Ending ending, const void* address) noexcept;
  void* resume_at() const { return home_; }
  void before_leaving() noexcept;

 private:
  static void strand_main();
  void prepare(const Grid& grid);
  void order_blocks();
  void run_blocks();
  void begin_block(Block& b);
  void set_current(Block* b);
  void loop(Strand* me);
  void begin(Strand* me);
  void finished(Strand* me);
  void release_barrier(Block& b);
  void finish_group(Block& b, unsigned warp, const Group& group);
  void check_groups(Block& b, unsigned warp);
  bool can_run(const Block& b) const;
  Block* other_block();
  // The next to run: nullptr if all wait.
  Strand* next();
  void wait(Strand* me);
  void preempt(Strand* me);
  // A write whose value is not known yet, beside another thread's.
  struct WrittenTwice {
    const void* at;
    size_t bytes = 0;  // 0: none
    char before[16];
    std::string text;
  };

  void settle_write(Strand* me);
  void draw_quantum();
  void stop_checking();
  void notice_spinning(Strand* me);
  Strand* idle_strand();
  void make_strands();
  void reset(Strand* s);
  void reset_strands();
  void enter(Strand* me, Strand* to);
  void leave(Strand* me);
  uint64_t random();
  unsigned random_below(unsigned n) {
    return static_cast<unsigned>((random() >> 32) * n >> 32);
  }
  uint3 index_of(uint64_t block) const;
  uint3 thread_index(unsigned number) const;
  std::string describe_race(const Strand& me, sy_on_host::Access how,
                            const EarlierAccess& earlier, uintptr_t at,
                            const void* from) const;
  std::string name_address(const Block& b, uintptr_t at) const;
  std::string place(const Strand& s) const;
  std::string describe_waiting() const;

  const Grid* grid_ = nullptr;
  unsigned threads_ = 0;
  uint64_t blocks_ = 0;
  SharedVariables variables_;

  std::vector<unsigned> shuffled_;  // numbers of threads
  // The blocks in the order in which they begin.
  uint64_t begun_ = 0, at_ = 0, step_ = 1;
  std::vector<std::unique_ptr<Block>> resident_;
  unsigned places_ = 0;  // of resident_, in this launch
  Block* current_ = nullptr;
  unsigned alive_ = 0;    // of resident_
  unsigned quantum_ = 0;  // accesses before others run

  bool checks_ = false;
  RaceCheck races_;
  WrittenTwice twice_;
  // For notice_spinning: threads that ended and writes, so far.
  uint64_t spins_ = 0, progress_ = 0, progress_seen_ = 0;
  std::chrono::steady_clock::time_point progress_at_;

  std::vector<Strand*> strands_, idle_;
  Strand* running_ = nullptr;
  Strand* in_kernel_ = nullptr;
  void* home_ = nullptr;  // where run_blocks() was left
  void* home_sanitizer_ = nullptr;
  const void* home_bottom_ = nullptr;
  size_t home_bytes_ = 0;

  uint64_t random_state_ = 0;
  Outcome outcome_;
  const void* fault_address_ = nullptr;
};

}  // namespace fake_cuda
