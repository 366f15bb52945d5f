#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/distributed/engine.h"
#include "frontend/distributed/process_group.h"
#include "frontend/distributed/store/store.h"

// The world of ranks that this process is in. Names are those of Python's
// torch.distributed; functions without a group take the world.

namespace sy::distributed {

struct InitOptions {
  // "mpi", "nccl", or that of a library. "": SWITCHYARD_DISTRIBUTED_ENGINE,
  // else "mpi" if a launcher of MPI started the process, else none: a world of
  // one.
  std::string engine = "";
  // How long a call waits for ranks that do not come. 0:
  // SWITCHYARD_DISTRIBUTED_TIMEOUT (seconds), else 5 minutes.
  Milliseconds timeout{0};
  // ProcessGroup::deterministic of all groups.
  bool deterministic = false;
  // The engine, the rank and the store themselves, for programs whose ranks are
  // threads, and for tests.
  Engine* with_engine = nullptr;
  int rank = -1, size = -1;
  std::shared_ptr<Store> store;
};

// The state of one rank: its groups, its store, the thread on which transfers
// progress.
class SY_API Context {
 public:
  explicit Context(const InitOptions& options);
  // destroy(), and waits for nothing that may not come.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int rank() const noexcept;
  int size() const noexcept;
  Store& store() const noexcept;
  const std::shared_ptr<ProcessGroup>& world() const noexcept;
  // Throws ValueError, which lists the names, if there is none.
  std::shared_ptr<ProcessGroup> group(std::string_view name) const;
  std::shared_ptr<ProcessGroup> new_group(std::vector<int> ranks,
                                          std::string name,
                                          Milliseconds timeout);
  // Ends all groups: calls that have not ended end with an Error.
  void destroy(bool clean = true) noexcept;

  class State;
  const std::shared_ptr<State>& state() const noexcept { return state_; }

  // The Context that the calls of this thread use: that of the innermost
  // ContextGuard, else the process's. nullptr before init.
  static Context* current() noexcept;

 private:
  std::shared_ptr<State> state_;
};

// Calls of this thread, in its scope, are those of another rank: for ranks that
// are threads.
class SY_API ContextGuard {
 public:
  explicit ContextGuard(Context& context) noexcept;
  ~ContextGuard();
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;

 private:
  Context* before_;
};

// Joins the world; waits until all ranks have. A process that no launcher
// started is a world of one. At exit the process leaves it. Throws Error:
// called twice, after fork, wrong numbers of ranks, ranks that do not come.
SY_API void init_process_group(const InitOptions& options = {});
inline void init(const InitOptions& options = {}) {
  init_process_group(options);
}
SY_API bool is_initialized() noexcept;
// Leaves the world. Calls of its groups throw Error afterwards.
SY_API void destroy_process_group();

// This rank and the number of ranks in the world; 0 and 1 before init.
SY_API int get_rank() noexcept;
SY_API int get_world_size() noexcept;
// This rank and the number of ranks on this machine, as launchers number them;
// 0 and 1 without a launcher.
SY_API int get_local_rank() noexcept;
SY_API int get_local_world_size() noexcept;
// The functions below throw Error before init, or after the end.
SY_API Store& store();
SY_API std::shared_ptr<ProcessGroup> world();
SY_API std::shared_ptr<ProcessGroup> group_of(std::string_view name);
// Makes a group of some ranks of the world, in increasing order. All ranks of
// the world call it, in the same order; those that are not in it get nullptr.
// Groups have names that operators take; "": one is made up, the same on all
// ranks. Throws ValueError for ranks that are not, or stand twice, and for a
// name that is taken; Error if the ranks disagree.
SY_API std::shared_ptr<ProcessGroup> new_group(
    std::vector<int> ranks, std::string name = "",
    std::optional<Milliseconds> timeout = std::nullopt);
SY_API void barrier(const std::shared_ptr<ProcessGroup>& group = nullptr);

}  // namespace sy::distributed
