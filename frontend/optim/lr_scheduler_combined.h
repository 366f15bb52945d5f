#pragma once

#include <memory>

#include "frontend/optim/lr_scheduler.h"

// Schedulers made of schedulers, which are of the same optimizer.

namespace sy::optim {

using LRSchedulers = std::vector<std::shared_ptr<LRScheduler>>;

// Runs schedulers one after the other: schedulers[i] begins at epoch
// milestones[i - 1], at the learning rates that the first scheduler was made
// with. With last_epoch the schedulers are made without, and all steps so far
// are taken again.
class SY_API SequentialLR : public LRScheduler {
 public:
  SequentialLR(Optimizer& optimizer, LRSchedulers schedulers,
               std::vector<int64_t> milestones, int64_t last_epoch = -1);

  void step() override;

 protected:
  std::vector<double> get_lrs() override { return get_current_lrs(); }
  void list(SchedulerNumbers* to) override;
  const char* name() const override { return "SequentialLR"; }
  void restart() override;
  bool jumps() const override;
  std::vector<double> closed_form() override;

 private:
  size_t place() const;
  bool is_at_milestone() const;

  LRSchedulers schedulers_;
  std::vector<int64_t> milestones_;
};

// Applies all of them, one upon the other. If one gives no multiple of the
// learning rates before (after a factor of 0, at a milestone of a sequence),
// they are the product of what each gives alone.
class SY_API ChainedScheduler : public LRScheduler {
 public:
  explicit ChainedScheduler(LRSchedulers schedulers);

  void step() override;

 protected:
  std::vector<double> get_lrs() override { return get_current_lrs(); }
  void list(SchedulerNumbers* to) override;
  const char* name() const override { return "ChainedScheduler"; }
  void restart() override;
  bool jumps() const override;
  std::vector<double> closed_form() override;

 private:
  LRSchedulers schedulers_;
};

}  // namespace sy::optim
