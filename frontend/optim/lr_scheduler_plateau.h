#pragma once

#include "frontend/optim/lr_scheduler.h"

namespace sy::optim {

// Multiplies the lr by factor, once a metric has not become better for more
// than `patience` epochs. As torch's ReduceLROnPlateau.
class SY_API ReduceLROnPlateauScheduler {
 public:
  // Whether less or more is better, and by how much it has to be, as a part of
  // the best value or as it is.
  enum SchedulerMode { min, max };
  enum ThresholdMode { rel, abs };

  // After a change, `cooldown` epochs do not count. No lr goes below min_lr: a
  // value for each group, or none. Changes of less than eps are not made.
  // `verbose`: each change is printed. Throws ValueError for a factor of 1 or
  // more. The optimizer must live longer.
  explicit ReduceLROnPlateauScheduler(
      Optimizer& optimizer, SchedulerMode mode = min, double factor = 0.1,
      int64_t patience = 10, double threshold = 1e-4,
      ThresholdMode threshold_mode = rel, int64_t cooldown = 0,
      std::vector<double> min_lr = {}, double eps = 1e-8, bool verbose = false);
  ReduceLROnPlateauScheduler(const ReduceLROnPlateauScheduler&) = delete;

  void step(double metric);
  const std::vector<double>& get_last_lr() const { return last_lr_; }
  // As those of LRScheduler.
  NamedTensors state_dict() const;
  void load_state_dict(const NamedTensors& state);

 private:
  void list(SchedulerNumbers* to);
  bool is_better(double metric) const;
  void reduce();

  Optimizer& optimizer_;
  SchedulerMode mode_;
  ThresholdMode threshold_mode_;
  double factor_, threshold_, eps_, best_;
  int64_t patience_, cooldown_;
  int64_t cooldown_counter_ = 0, num_bad_epochs_ = 0, last_epoch_ = 0;
  std::vector<double> min_lrs_, last_lr_;
  bool verbose_;
};

using ReduceLROnPlateau = ReduceLROnPlateauScheduler;

}  // namespace sy::optim
