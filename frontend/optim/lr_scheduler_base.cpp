#include <algorithm>
#include <cmath>
#include <utility>

#include "aten/ops/factory.h"
#include "c10/dispatch/capture.h"
#include "frontend/optim/lr_scheduler.h"
#include "frontend/optim/lr_scheduler_numbers.h"
#include "frontend/optim/misfits.h"

namespace sy::optim {

NamedTensors SchedulerNumbers::save() const {
  NamedTensors all;
  for (const auto& [name, value] : values_) {
    all.insert(name, std::visit(
                         [](const auto* v) {
                           using T = std::decay_t<decltype(*v)>;
                           return full({}, *v, CppTypeToScalarType<T>::value);
                         },
                         value));
  }
  return all;
}

void SchedulerNumbers::load(const char* scheduler,
                            const NamedTensors& from) const {
  Misfits misfits;
  NamedTensors known;
  for (const auto& [name, value] : values_) {
    known.insert(name, {});
    const Tensor* const t = from.find(name);
    if (t == nullptr) {
      misfits.missing.push_back(name);
    } else if (t->numel() != 1) {
      misfits.misshapen.push_back(
          str("{} (expected [], got {})", name, t->sizes()));
    }
  }
  for (const auto& [name, t] : from) {
    if (!known.contains(name)) misfits.unexpected.push_back(name);
  }
  misfits.raise(scheduler);
  for (const auto& [name, value] : values_) {
    const Tensor& t = from[name];
    std::visit([&](auto* v) { *v = t.item<std::decay_t<decltype(*v)>>(); },
               value);
  }
}

std::vector<double> PerGroup::of(const Optimizer& optimizer,
                                 const char* scheduler,
                                 const char* name) const {
  const size_t groups = optimizer.param_groups().size();
  if (one_) return std::vector<double>(groups, values_[0]);
  SY_CHECK(values_.size() == groups, Value,
           "[{}] {}: expected {} values, one for each group, got {}", scheduler,
           name, groups, values_.size());
  return values_;
}

LRScheduler::LRScheduler(Optimizer& optimizer, int64_t last_epoch)
    : optimizer_(optimizer), last_epoch_(last_epoch) {
  start_at(last_epoch);
}

LRScheduler::~LRScheduler() = default;

void LRScheduler::start_at(int64_t epoch) {
  base_lrs_.clear();
  auto& groups = optimizer_.param_groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    OptimizerOptions& o = groups[i].options();
    SY_CHECK(
        epoch == -1 || o.initial_lr(), Value,
        "[LRScheduler] param_groups[{}]: expected an initial_lr, which the "
        "state of an optimizer with a scheduler has, to go on from "
        "last_epoch {}",
        i, epoch);
    if (!o.initial_lr()) o.set_initial_lr(o.get_lr());
    base_lrs_.push_back(*o.initial_lr());
  }
  last_lr_ = get_current_lrs();
}

void LRScheduler::initial_step() {
  step_count_ = 0;
  is_initial_ = true;
  const bool resumed = last_epoch_ >= 0;
  if (resumed && !closed_form_at(0).empty()) {
    // get_lrs() would go on from learning rates of one epoch or the other.
    const bool alone = is_alone();
    ++step_count_;
    ++last_epoch_;
    set_lrs(alone ? closed_form() : get_current_lrs());
  } else {
    step();
  }
  is_initial_ = false;
  is_resumed_ = resumed;
}

std::vector<double> LRScheduler::closed_form_at(int64_t epoch) {
  const int64_t now = std::exchange(last_epoch_, epoch);
  std::vector<double> lrs = closed_form();
  last_epoch_ = now;
  return lrs;
}

// Whether the learning rates of now are the first ones, or those that this
// scheduler gives for the last epoch or the next.
bool LRScheduler::is_alone() {
  const std::vector<double> now = get_current_lrs();
  const auto are_now = [&](const std::vector<double>& lrs) {
    return std::equal(now.begin(), now.end(), lrs.begin(), lrs.end(),
                      [](double a, double b) {
                        return std::abs(a - b) <= 1e-9 * std::abs(b);
                      });
  };
  return are_now(base_lrs_) || are_now(closed_form_at(0)) ||
         are_now(closed_form_at(last_epoch_)) ||
         are_now(closed_form_at(last_epoch_ + 1));
}

void LRScheduler::restart() {
  last_epoch_ = -1;
  initial_step();
}

void LRScheduler::begin() {
  set_lrs(base_lrs_);
  restart();
}

void LRScheduler::replay(int64_t steps) {
  begin();
  for (int64_t i = 0; i < steps; ++i) step();
  is_resumed_ = true;
}

void LRScheduler::step() {
  is_resumed_ = false;
  ++step_count_;
  ++last_epoch_;
  set_lrs(get_lrs());
}

std::vector<double> LRScheduler::get_current_lrs() const {
  std::vector<double> lrs;
  for (const OptimizerParamGroup& g : optimizer_.param_groups()) {
    lrs.push_back(g.options().get_lr());
  }
  return lrs;
}

std::vector<double> LRScheduler::scaled(double factor) const {
  std::vector<double> lrs = get_current_lrs();
  for (double& lr : lrs) lr *= factor;
  return lrs;
}

std::vector<double> LRScheduler::scaled_base(double factor) const {
  std::vector<double> lrs = base_lrs_;
  for (double& lr : lrs) lr *= factor;
  return lrs;
}

void LRScheduler::set_lrs(const std::vector<double>& lrs) {
  tell_capture_acts("a scheduler steps");
  auto& groups = optimizer_.param_groups();
  SY_CHECK(lrs.size() == groups.size(), Value,
           "[{}] step: expected {} param_groups as when it was made, got {}",
           name(), lrs.size(), groups.size());
  for (size_t i = 0; i < lrs.size(); ++i) {
    groups[i].options().set_lr(lrs[i]);
  }
  last_lr_ = get_current_lrs();
}

void LRScheduler::list(SchedulerNumbers* to) {
  to->add("last_epoch", &last_epoch_);
  to->add("step_count", &step_count_);
  to->add("base_lrs", &base_lrs_);
  to->add("last_lr", &last_lr_);
}

NamedTensors LRScheduler::state_dict() const {
  SchedulerNumbers numbers;
  const_cast<LRScheduler*>(this)->list(&numbers);
  return numbers.save();
}

void LRScheduler::load_state_dict(const NamedTensors& state) {
  SchedulerNumbers numbers;
  list(&numbers);
  numbers.load(name(), state);
}

}  // namespace sy::optim
