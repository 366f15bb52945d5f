#pragma once

#include <memory>
#include <vector>

#include "frontend/distributed/training/data_parallel.h"
#include "frontend/distributed/training/reducer.h"

namespace sy::distributed {

struct DataParallelBase::State {
  std::shared_ptr<nn::Module> module;
  std::shared_ptr<ProcessGroup> group;
  DataParallelOptions options;
  std::shared_ptr<Reducer> reducer;
  nn::HookHandle before_forward;
  // Modules on the stack can have no hooks: calls of the ddp do it.
  bool sends_in_calls = false;
  // While ranks may run out of inputs, Join::step() sends buffers.
  bool joining = false;

  State() = default;
  ~State() { before_forward.remove(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // Called before each forward.
  void prepare_forward() const;
  // Buffers become those of `root`; a call of the group if there are any.
  void send_buffers(int root) const;
  // The same for parameters and buffers.
  void send_state(int root) const;
};

}  // namespace sy::distributed
