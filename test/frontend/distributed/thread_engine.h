#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "frontend/distributed/engine.h"

// An engine whose ranks are threads of one process, made of the public
// interface alone, as one outside of the tree would be. It can be told to fail.

namespace sy::distributed {

// The answers of Communicator::supports(); the engine always supports send,
// recv, all_gather and all_to_all of bytes.
enum class ThreadSupport {
  kAll,
  kNoReducedFloats,  // as MPI: no reductions of half, bfloat16 and bool
  kBytes             // only what an engine must do
};

// The ranks. One thread at a time uses the engine of a rank; the methods below
// may be called by any thread. Communicators may outlive it.
class ThreadWorld {
 public:
  explicit ThreadWorld(int size);
  ~ThreadWorld();
  ThreadWorld(const ThreadWorld&) = delete;
  ThreadWorld& operator=(const ThreadWorld&) = delete;

  int size() const noexcept;
  // launched() says that it is `rank` of size(). Its connect() waits for no
  // one.
  Engine& engine(int rank);
  // Calls f(rank) in a thread for each rank, waits for all of them, and throws
  // the first error in order of ranks.
  void run(const std::function<void(int rank)>& f);

  void set_support(ThreadSupport support);
  // Reductions begin with the last rank: their sums round differently from
  // those in the order of ranks.
  void set_backwards(bool on);
  // Sets the result of Engine::device_type(); at first it is the CPU's.
  void set_device_type(int type);

  // ---- faults. Transfers of a rank are counted from 1, over all of its
  // communicators, since it connected.

  // Transfers that the rank begins from now on reach others so much later.
  void delay(int rank, std::chrono::milliseconds by);
  // The rank's transfers from the n-th on reach no one, and are never done.
  void vanish(int rank, int64_t nth = 1);
  // begin() of the rank's n-th transfer throws.
  void fail_begin(int rank, int64_t nth);
  // test() of the rank's n-th transfer throws. A transfer that was done when it
  // began has no test().
  void fail_test(int rank, int64_t nth);
  // How many transfers the rank has begun.
  int64_t begun(int rank) const;
  // Requests that neither ended nor were abandoned, of all ranks.
  int64_t pending() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace sy::distributed
