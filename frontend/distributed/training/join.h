#pragma once

#include <functional>
#include <vector>

#include "frontend/distributed/training/data_parallel.h"

namespace sy::distributed {

struct JoinOptions {
  // Averages count ranks that have no more inputs, with zeros: each input has
  // the same weight in each step. Without it, averages are over the ranks that
  // still have inputs.
  bool divide_by_initial_world_size = true;
  // The first rank that has no more inputs ends training everywhere: the next
  // step() of the others throws Error, which names it.
  bool throw_on_early_termination = false;
  // The function that a rank without more inputs calls in each step of the
  // others, when its gradients are the averages: optimizer.step(). Without it,
  // parameters come from another rank at the end, but what the optimizer keeps
  // (momentum) has missed the steps, so that ranks drift apart if they go on.
  std::function<void()> shadow_step = nullptr;
};

// Training with fewer inputs on some ranks than on others:
//
//   {
//     Join join({&ddp});
//     for (const auto& batch : loader) {
//       join.step();
//       loss(model(batch.data), batch.target).backward();
//       optimizer.step();
//     }
//   }
//
// step() begins a step: one forward, and one backward that is not in no_sync(),
// of each of the models. A rank that has no more inputs stays in finish(), or
// in the destructor, until all have none: it takes part in the others' calls,
// with zeros (so gradients that were kept from step to step are zeros there).
// At the end all ranks have the parameters and buffers of a rank that made the
// most steps. Such a rank takes no part in collectives of the model's own
// (SyncBatchNorm). The models live longer, and have groups of the same ranks.
class SY_API Join {
 public:
  explicit Join(std::vector<DataParallelBase*> models,
                const JoinOptions& options = {});
  // finish(), unless an exception is under way.
  ~Join() noexcept(false);
  Join(const Join&) = delete;
  Join& operator=(const Join&) = delete;

  void step();
  // Waits for all ranks. Does nothing the second time. Throws what their
  // backward throws on all ranks.
  void finish();

 private:
  // Returns which ranks still have inputs; a call of the group.
  std::vector<bool> exchange(bool have_inputs);
  void prepare(const std::vector<bool>& active);
  void restore() noexcept;

  std::vector<DataParallelBase*> models_;
  JoinOptions options_;
  int exceptions_;
  int root_ = 0;
  bool ended_ = false;
};

}  // namespace sy::distributed
