#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "test/backends/cuda/fake/emulator/executor.h"

namespace fake_cuda {

class BlockRunner;

// A coroutine: runs threads of the block. Lies above its stack.
struct Strand : sy_on_host::Thread {
  BlockRunner* runner;
  void* left_at;    // the stack's pointer while it does not run
  void* sanitizer;  // of before_switch
  unsigned warp;
};
static_assert(sizeof(Strand) <= sy_on_host::kThreadBytes);

// Runs blocks on the thread that calls run(). One at a time; keeps its stacks.
class BlockRunner {
 public:
  BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  Outcome run(const Grid& grid);

  // Of threads of the block.
  int barrier(Strand* me, sy_on_host::Barrier kind, int predicate);
  uint64_t collective(Strand* me, sy_on_host::Collective kind, unsigned mask,
                      uint64_t value, int source);
  void yield(Strand* me);
  // Leaves the block; the strands that ran are begun afresh.
  // `text` is emptied: nothing on the stack is destroyed.
  [[noreturn]] void fail(Strand* me, Ending ending, std::string&& text);

  // For signals: notes a fault of the running thread. The handler goes on at
  // resume_at(), with sy_fiber_resume.
  void note_fault(Ending ending, const void* address) noexcept;
  void* resume_at() const { return home_; }
  void before_leaving() noexcept;

 private:
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
    // By lane: what it brought, and what it gets.
    uint64_t values[32], results[32];
    int sources[32];
  };

  static void strand_main();
  bool run_block();
  void loop(Strand* me);
  void begin(Strand* me);
  void finished(Strand* me);
  void release_barrier();
  void finish_group(Warp& warp, const Group& group);
  void check_groups(Warp& warp);
  // The next to run: nullptr if all wait.
  Strand* next();
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
  std::string place(const Strand& s) const;
  std::string describe_waiting() const;

  const Grid* grid_ = nullptr;
  unsigned threads_ = 0;
  uint3 block_{};
  char* shared_ = nullptr;
  std::vector<char> shared_room_;

  std::vector<unsigned> shuffled_;  // numbers of threads
  unsigned started_ = 0, position_ = 0, step_ = 1;
  unsigned living_ = 0;
  std::vector<Strand*> ready_;
  std::vector<Strand*> at_barrier_;
  sy_on_host::Barrier barrier_kind_ = sy_on_host::Barrier::kSync;
  int barrier_count_ = 0, barrier_result_ = 0;
  std::vector<Warp> warps_;

  std::vector<Strand*> strands_, idle_;
  Strand* running_ = nullptr;
  void* home_ = nullptr;  // where run_block() was left
  void* home_sanitizer_ = nullptr;
  const void* home_bottom_ = nullptr;
  size_t home_bytes_ = 0;

  uint64_t random_state_ = 0;
  Outcome outcome_;
  const void* fault_address_ = nullptr;
};

}  // namespace fake_cuda
