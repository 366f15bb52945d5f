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
  replay(std::max<int64_t>(last_epoch + 1, 0));
  is_resumed_ = last_epoch >= 0;
}

void SequentialLR::restart() {
  last_epoch_ = 0;
  LRScheduler& first = *schedulers_[place()];
  first.restart();
  last_lr_ = first.last_lr_;
}

size_t SequentialLR::place() const {
  return static_cast<size_t>(
      std::upper_bound(milestones_.begin(), milestones_.end(), last_epoch_) -
      milestones_.begin());
}

void SequentialLR::step() {
  is_resumed_ = false;
  ++last_epoch_;
  LRScheduler& s = *schedulers_[place()];
  if (is_at_milestone()) {
    s.begin();
  } else {
    s.step();
  }
  last_lr_ = s.last_lr_;
}

bool SequentialLR::is_at_milestone() const {
  return last_epoch_ > 0 && std::find(milestones_.begin(), milestones_.end(),
                                      last_epoch_) != milestones_.end();
}

bool SequentialLR::jumps() const {
  return is_at_milestone() || schedulers_[place()]->jumps();
}

std::vector<double> SequentialLR::closed_form() {
  return schedulers_[place()]->closed_form();
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
  const bool resumed =
      std::all_of(schedulers_.begin(), schedulers_.end(),
                  [](const auto& s) { return s->is_resumed_; });
  // Each has set the learning rates that it gives alone.
  if (resumed) replay(last_epoch_);
}

void ChainedScheduler::restart() {
  for (const auto& s : schedulers_) s->restart();
  last_epoch_ = schedulers_[0]->last_epoch();
  last_lr_ = get_current_lrs();
}

void ChainedScheduler::step() {
  is_resumed_ = false;
  for (const auto& s : schedulers_) s->step();
  last_epoch_ = schedulers_[0]->last_epoch();
  // The learning rates of now have lost what the others gave.
  if (jumps()) set_lrs(closed_form());
  last_lr_ = get_current_lrs();
}

bool ChainedScheduler::jumps() const {
  return std::any_of(schedulers_.begin(), schedulers_.end(),
                     [](const auto& s) { return s->jumps(); });
}

// The parts that each scheduler leaves of the first learning rates, together.
std::vector<double> ChainedScheduler::closed_form() {
  std::vector<double> lrs = base_lrs_;
  for (const auto& s : schedulers_) {
    const std::vector<double> own = s->closed_form();
    if (own.empty()) {  // it looks at no other's
      lrs = s->last_lr_;
      continue;
    }
    for (size_t i = 0; i < lrs.size(); ++i) {
      if (s->base_lrs_[i] != 0) lrs[i] *= own[i] / s->base_lrs_[i];
    }
  }
  return lrs;
}

void ChainedScheduler::list(SchedulerNumbers* to) {
  LRScheduler::list(to);
  list_each(to, schedulers_.size(),
            [&](size_t i) { schedulers_[i]->list(to); });
}

}  // namespace sy::optim
