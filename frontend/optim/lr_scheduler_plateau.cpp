#include "frontend/optim/lr_scheduler_plateau.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "c10/dispatch/capture.h"
#include "frontend/optim/lr_scheduler_numbers.h"

namespace sy::optim {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> lrs_of(const Optimizer& optimizer) {
  std::vector<double> lrs;
  for (const OptimizerParamGroup& g : optimizer.param_groups()) {
    lrs.push_back(g.options().get_lr());
  }
  return lrs;
}

}  // namespace

ReduceLROnPlateauScheduler::ReduceLROnPlateauScheduler(
    Optimizer& optimizer, SchedulerMode mode, double factor, int64_t patience,
    double threshold, ThresholdMode threshold_mode, int64_t cooldown,
    std::vector<double> min_lr, double eps, bool verbose)
    : optimizer_(optimizer),
      mode_(mode),
      threshold_mode_(threshold_mode),
      factor_(factor),
      threshold_(threshold),
      eps_(eps),
      best_(mode == min ? kInfinity : -kInfinity),
      patience_(patience),
      cooldown_(cooldown),
      min_lrs_(std::move(min_lr)),
      last_lr_(lrs_of(optimizer)),
      verbose_(verbose) {
  SY_CHECK(factor < 1, Value,
           "[ReduceLROnPlateau] factor: expected less than 1, got {}", factor);
  const size_t groups = optimizer.param_groups().size();
  if (min_lrs_.empty()) min_lrs_.assign(groups, 0);
  SY_CHECK(min_lrs_.size() == groups, Value,
           "[ReduceLROnPlateau] min_lr: expected {} values, one for each "
           "group, got {}",
           groups, min_lrs_.size());
}

bool ReduceLROnPlateauScheduler::is_better(double metric) const {
  if (mode_ == min) {
    return metric < (threshold_mode_ == rel ? best_ * (1 - threshold_)
                                            : best_ - threshold_);
  }
  return metric > (threshold_mode_ == rel ? best_ * (1 + threshold_)
                                          : best_ + threshold_);
}

void ReduceLROnPlateauScheduler::step(double metric) {
  ++last_epoch_;
  if (is_better(metric)) {
    best_ = metric;
    num_bad_epochs_ = 0;
  } else {
    ++num_bad_epochs_;
  }
  if (cooldown_counter_ > 0) {
    --cooldown_counter_;
    num_bad_epochs_ = 0;
  }
  if (num_bad_epochs_ > patience_) {
    reduce();
    cooldown_counter_ = cooldown_;
    num_bad_epochs_ = 0;
  }
  last_lr_ = lrs_of(optimizer_);
}

void ReduceLROnPlateauScheduler::reduce() {
  tell_capture_acts("a scheduler steps");
  auto& groups = optimizer_.param_groups();
  SY_CHECK(groups.size() == min_lrs_.size(), Value,
           "[ReduceLROnPlateau] step: expected {} param_groups as when it was "
           "made, got {}",
           min_lrs_.size(), groups.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    const double before = groups[i].options().get_lr();
    const double lr = std::max(before * factor_, min_lrs_[i]);
    if (!(before - lr > eps_)) continue;
    groups[i].options().set_lr(lr);
    if (verbose_) {
      std::printf("epoch %lld: the lr of group %zu is now %g\n",
                  static_cast<long long>(last_epoch_), i, lr);
    }
  }
}

void ReduceLROnPlateauScheduler::list(SchedulerNumbers* to) {
  to->add("last_epoch", &last_epoch_);
  to->add("best", &best_);
  to->add("num_bad_epochs", &num_bad_epochs_);
  to->add("cooldown_counter", &cooldown_counter_);
  to->add("factor", &factor_);
  to->add("patience", &patience_);
  to->add("threshold", &threshold_);
  to->add("cooldown", &cooldown_);
  to->add("eps", &eps_);
  to->add("min_lrs", &min_lrs_);
  to->add("last_lr", &last_lr_);
}

NamedTensors ReduceLROnPlateauScheduler::state_dict() const {
  SchedulerNumbers numbers;
  const_cast<ReduceLROnPlateauScheduler*>(this)->list(&numbers);
  return numbers.save();
}

void ReduceLROnPlateauScheduler::load_state_dict(const NamedTensors& state) {
  SchedulerNumbers numbers;
  list(&numbers);
  numbers.load("ReduceLROnPlateau", state);
}

}  // namespace sy::optim
