#include "frontend/optim/lr_scheduler_combined.h"

#include <algorithm>

#include "frontend/optim/lr_scheduler_numbers.h"

namespace sy::optim {

namespace {

// The optimizer of the first.
Optimizer& check_schedulers(const char* name, const LRSchedulers& schedulers,
                            const Optimizer* optimizer) {
  SY_CHECK(!schedulers.empty(), Value,
           "[{}] schedulers: expected at least one, got none", name);
  for (size_t i = 0; i < schedulers.size(); ++i) {
    SY_CHECK(schedulers[i] != nullptr, Value,
             "[{}] schedulers[{}]: expected a scheduler, got nullptr", name, i);
    if (optimizer == nullptr) optimizer = &schedulers[0]->optimizer();
    SY_CHECK(&schedulers[i]->optimizer() == optimizer, Value,
             "[{}] schedulers[{}]: expected one of the same optimizer, got one "
             "of another",
             name, i);
  }
  return schedulers[0]->optimizer();
}

}  // namespace

SequentialLR::SequentialLR(Optimizer& optimizer, LRSchedulers schedulers,
                           std::vector<int64_t> milestones, int64_t last_epoch)
    : LRScheduler(check_schedulers("SequentialLR", schedulers, &optimizer)),
      schedulers_(std::move(schedulers)),
      milestones_(std::move(milestones)) {
  SY_CHECK(milestones_.size() + 1 == schedulers_.size(), Value,
           "[SequentialLR] milestones: expected {}, one less than schedulers, "
           "got {}",
           schedulers_.size() - 1, milestones_.size());
  SY_CHECK(std::is_sorted(milestones_.begin(), milestones_.end()), Value,
           "[SequentialLR] milestones: expected rising ones");
  last_epoch_ = last_epoch + 1;
  set_lrs(base_lrs_);
  // All schedulers have taken their first step already.
  undo_step();
  LRScheduler& first = *schedulers_[static_cast<size_t>(
      std::upper_bound(milestones_.begin(), milestones_.end(), 0) -
      milestones_.begin())];
  first.initial_step();
  last_lr_ = first.last_lr_;
}

void SequentialLR::undo_step() {
  for (const auto& s : schedulers_) s->undo_step();
}

size_t SequentialLR::place() const {
  return static_cast<size_t>(
      std::upper_bound(milestones_.begin(), milestones_.end(), last_epoch_) -
      milestones_.begin());
}

void SequentialLR::step() {
  ++last_epoch_;
  const size_t i = place();
  LRScheduler& s = *schedulers_[i];
  if (i > 0 && milestones_[i - 1] == last_epoch_) {
    s.last_epoch_ = 0;
    s.set_lrs(s.closed_form());
  } else {
    s.step();
  }
  last_lr_ = s.last_lr_;
}

namespace {

void list_each(SchedulerNumbers* to, size_t count,
               const std::function<void(size_t)>& list) {
  const std::string before = to->prefix();
  for (size_t i = 0; i < count; ++i) {
    to->set_prefix(before + "schedulers." + std::to_string(i) + ".");
    list(i);
  }
  to->set_prefix(before);
}

}  // namespace

void SequentialLR::list(SchedulerNumbers* to) {
  LRScheduler::list(to);
  to->add("milestones", &milestones_);
  list_each(to, schedulers_.size(),
            [&](size_t i) { schedulers_[i]->list(to); });
}

ChainedScheduler::ChainedScheduler(LRSchedulers schedulers)
    : LRScheduler(check_schedulers("ChainedScheduler", schedulers, nullptr)),
      schedulers_(std::move(schedulers)) {
  last_epoch_ = schedulers_[0]->last_epoch();
}

void ChainedScheduler::undo_step() {
  for (const auto& s : schedulers_) s->undo_step();
}

void ChainedScheduler::step() {
  for (const auto& s : schedulers_) s->step();
  last_epoch_ = schedulers_[0]->last_epoch();
  last_lr_ = get_current_lrs();
}

void ChainedScheduler::list(SchedulerNumbers* to) {
  LRScheduler::list(to);
  list_each(to, schedulers_.size(),
            [&](size_t i) { schedulers_[i]->list(to); });
}

}  // namespace sy::optim
