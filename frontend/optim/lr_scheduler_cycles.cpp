#include "frontend/optim/lr_scheduler_cycles.h"

#include <cmath>
#include <numbers>

#include "frontend/optim/lr_scheduler_numbers.h"

namespace sy::optim {

namespace {

constexpr double kPi = std::numbers::pi;

// Sets the momentum of a group, or its first beta. Returns false if it has
// neither.
bool set_momentum(OptimizerOptions& options, double momentum) {
  const std::vector<OptionRef> list = options.list();
  if (const OptionRef* const betas = find_option(list, "betas")) {
    std::get<0>(**std::get_if<std::tuple<double, double>*>(&betas->value)) =
        momentum;
    return true;
  }
  const OptionRef* const own = find_option(list, "momentum");
  if (own == nullptr) return false;
  **std::get_if<double*>(&own->value) = momentum;
  return true;
}

void set_momentums(Optimizer& optimizer, const char* scheduler,
                   const std::vector<double>& momentums) {
  for (size_t i = 0; i < momentums.size(); ++i) {
    OptimizerOptions& o = optimizer.param_groups()[i].options();
    SY_CHECK(set_momentum(o, momentums[i]), Value,
             "[{}] cycle_momentum: expected false, since {} has neither "
             "momentum nor betas, got true",
             scheduler, o.optimizer());
  }
}

void check_positive(const char* scheduler, const char* name, int64_t value) {
  SY_CHECK(value > 0, Value, "[{}] {}: expected at least 1, got {}", scheduler,
           name, value);
}

}  // namespace

CyclicLR::CyclicLR(Optimizer& optimizer, const PerGroup& base_lr,
                   const PerGroup& max_lr, CyclicLROptions options)
    : LRScheduler(optimizer, options.last_epoch),
      options_(std::move(options)),
      max_lrs_(max_lr.of(optimizer, "CyclicLR", "max_lr")) {
  const std::vector<double> lrs = base_lr.of(optimizer, "CyclicLR", "base_lr");
  const int64_t down = options_.step_size_down.value_or(options_.step_size_up);
  check_positive("CyclicLR", "step_size_up", options_.step_size_up);
  check_positive("CyclicLR", "step_size_down", down);
  const bool known =
      options_.scale_fn != nullptr || options_.mode == "triangular" ||
      options_.mode == "triangular2" || options_.mode == "exp_range";
  SY_CHECK(known, Value,
           "[CyclicLR] mode: expected triangular, triangular2 or exp_range, "
           "got {}",
           options_.mode);
  if (options_.scale_fn == nullptr) {
    options_.scale_mode = options_.mode == "exp_range" ? "iterations" : "cycle";
  }
  SY_CHECK(
      options_.scale_mode == "cycle" || options_.scale_mode == "iterations",
      Value, "[CyclicLR] scale_mode: expected cycle or iterations, got {}",
      options_.scale_mode);
  total_size_ = static_cast<double>(options_.step_size_up + down);
  step_ratio_ = static_cast<double>(options_.step_size_up) / total_size_;
  if (options_.cycle_momentum) {
    base_momentums_ =
        options_.base_momentum.of(optimizer, "CyclicLR", "base_momentum");
    max_momentums_ =
        options_.max_momentum.of(optimizer, "CyclicLR", "max_momentum");
    if (options_.last_epoch == -1) {
      set_momentums(optimizer, "CyclicLR", max_momentums_);
    }
  }
  base_lrs_ = lrs;
  initial_step();
}

double CyclicLR::height(double cycle) const {
  const double x =
      options_.scale_mode == "cycle" ? cycle : static_cast<double>(last_epoch_);
  if (options_.scale_fn != nullptr) return options_.scale_fn(x);
  if (options_.mode == "triangular") return 1;
  if (options_.mode == "triangular2") return 1 / std::pow(2.0, x - 1);
  return std::pow(options_.gamma, x);
}

std::vector<double> CyclicLR::get_lrs() {
  const double way = static_cast<double>(last_epoch_) / total_size_;
  const double cycle = std::floor(1 + way);
  const double x = 1 + way - cycle;
  const double part =
      x <= step_ratio_ ? x / step_ratio_ : (x - 1) / (step_ratio_ - 1);
  const double height = this->height(cycle);
  std::vector<double> lrs = base_lrs_;
  for (size_t i = 0; i < lrs.size(); ++i) {
    lrs[i] += (max_lrs_[i] - base_lrs_[i]) * part * height;
  }
  if (options_.cycle_momentum) {
    std::vector<double> momentums = max_momentums_;
    for (size_t i = 0; i < momentums.size(); ++i) {
      momentums[i] -= (max_momentums_[i] - base_momentums_[i]) * part * height;
    }
    set_momentums(optimizer_, "CyclicLR", momentums);
  }
  return lrs;
}

void CyclicLR::list(SchedulerNumbers* to) {
  LRScheduler::list(to);
  to->add("total_size", &total_size_);
  to->add("step_ratio", &step_ratio_);
  to->add("gamma", &options_.gamma);
  to->add("max_lrs", &max_lrs_);
  to->add("base_momentums", &base_momentums_);
  to->add("max_momentums", &max_momentums_);
}

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer,
                                                         int64_t T_0,
                                                         int64_t T_mult,
                                                         double eta_min,
                                                         int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch),
      t_0_(T_0),
      t_mult_(T_mult),
      t_i_(static_cast<double>(T_0)),
      t_cur_(static_cast<double>(last_epoch)),
      eta_min_(eta_min) {
  check_positive(name(), "T_0", T_0);
  check_positive(name(), "T_mult", T_mult);
  initial_step();
}

std::vector<double> CosineAnnealingWarmRestarts::get_lrs() {
  std::vector<double> lrs = base_lrs_;
  const double height = 1 + std::cos(kPi * t_cur_ / t_i_);
  for (double& lr : lrs) lr = eta_min_ + (lr - eta_min_) * height / 2;
  return lrs;
}

void CosineAnnealingWarmRestarts::step() {
  if (is_initial_) return step(static_cast<double>(last_epoch_ + 1));
  ++last_epoch_;
  ++t_cur_;
  if (t_cur_ >= t_i_) {
    t_cur_ = std::fmod(t_cur_, t_i_);
    t_i_ *= static_cast<double>(t_mult_);
  }
  set_lrs(get_lrs());
}

void CosineAnnealingWarmRestarts::step(double epoch) {
  SY_CHECK(epoch >= 0, Value, "[{}] epoch: expected at least 0, got {}", name(),
           epoch);
  t_i_ = static_cast<double>(t_0_);
  t_cur_ = t_mult_ == 1 ? std::fmod(epoch, t_i_) : epoch;
  while (t_cur_ >= t_i_) {
    t_cur_ -= t_i_;
    t_i_ *= static_cast<double>(t_mult_);
  }
  last_epoch_ = static_cast<int64_t>(std::floor(epoch));
  set_lrs(get_lrs());
}

void CosineAnnealingWarmRestarts::list(SchedulerNumbers* to) {
  LRScheduler::list(to);
  to->add("T_0", &t_0_);
  to->add("T_mult", &t_mult_);
  to->add("T_i", &t_i_);
  to->add("T_cur", &t_cur_);
  to->add("eta_min", &eta_min_);
}

OneCycleLR::OneCycleLR(Optimizer& optimizer, const PerGroup& max_lr,
                       const OneCycleLROptions& options)
    : LRScheduler(optimizer, options.last_epoch),
      pct_start_(options.pct_start),
      cosine_(options.anneal_strategy == "cos"),
      cycle_momentum_(options.cycle_momentum),
      three_phase_(options.three_phase),
      max_lrs_(max_lr.of(optimizer, "OneCycleLR", "max_lr")) {
  if (options.total_steps) {
    check_positive("OneCycleLR", "total_steps", *options.total_steps);
    total_steps_ = *options.total_steps;
  } else {
    SY_CHECK(options.epochs && options.steps_per_epoch, Value,
             "[OneCycleLR] options: expected total_steps, or epochs and "
             "steps_per_epoch, got neither");
    check_positive("OneCycleLR", "epochs", *options.epochs);
    check_positive("OneCycleLR", "steps_per_epoch", *options.steps_per_epoch);
    total_steps_ = *options.epochs * *options.steps_per_epoch;
  }
  SY_CHECK(pct_start_ >= 0 && pct_start_ <= 1, Value,
           "[OneCycleLR] pct_start: expected 0 to 1, got {}", pct_start_);
  SY_CHECK(cosine_ || options.anneal_strategy == "linear", Value,
           "[OneCycleLR] anneal_strategy: expected cos or linear, got {}",
           options.anneal_strategy);
  auto& groups = optimizer.param_groups();
  const bool is_new = options.last_epoch == -1;
  for (size_t i = 0; i < groups.size(); ++i) {
    OptimizerOptions& o = groups[i].options();
    if (is_new) o.set_initial_lr(max_lrs_[i] / options.div_factor);
    base_lrs_[i] = *o.initial_lr();
    min_lrs_.push_back(base_lrs_[i] / options.final_div_factor);
  }
  if (cycle_momentum_) {
    base_momentums_ =
        options.base_momentum.of(optimizer, "OneCycleLR", "base_momentum");
    max_momentums_ =
        options.max_momentum.of(optimizer, "OneCycleLR", "max_momentum");
    if (is_new) set_momentums(optimizer, "OneCycleLR", max_momentums_);
  }
  initial_step();
}

std::vector<double> OneCycleLR::get_lrs() {
  const auto steps = static_cast<double>(total_steps_);
  const auto step = static_cast<double>(last_epoch_);
  if (last_epoch_ > total_steps_) {
    --last_epoch_;
    --step_count_;
    fail(ErrorKind::Value,
         "[OneCycleLR] step: expected at most {} steps, got one more",
         total_steps_);
  }
  struct Phase {
    double end;
    const std::vector<double>*from, *to, *from_momentum, *to_momentum;
  };
  const Phase up{pct_start_ * steps - 1, &base_lrs_, &max_lrs_, &max_momentums_,
                 &base_momentums_};
  const Phase down{2 * pct_start_ * steps - 2, &max_lrs_, &base_lrs_,
                   &base_momentums_, &max_momentums_};
  const Phase out{steps - 1, three_phase_ ? &base_lrs_ : &max_lrs_, &min_lrs_,
                  three_phase_ ? &max_momentums_ : &base_momentums_,
                  &max_momentums_};
  double start = 0;
  const Phase* phase = &up;
  if (step > phase->end) {
    start = phase->end;
    phase = three_phase_ ? &down : &out;
  }
  if (phase == &down && step > phase->end) {
    start = phase->end;
    phase = &out;
  }
  const double part = (step - start) / (phase->end - start);
  const auto between = [&](const std::vector<double>& from,
                           const std::vector<double>& to) {
    std::vector<double> values(from.size());
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] =
          cosine_ ? to[i] + (from[i] - to[i]) / 2 * (std::cos(kPi * part) + 1)
                  : (to[i] - from[i]) * part + from[i];
    }
    return values;
  };
  if (cycle_momentum_) {
    set_momentums(optimizer_, "OneCycleLR",
                  between(*phase->from_momentum, *phase->to_momentum));
  }
  return between(*phase->from, *phase->to);
}

void OneCycleLR::list(SchedulerNumbers* to) {
  LRScheduler::list(to);
  to->add("total_steps", &total_steps_);
  to->add("pct_start", &pct_start_);
  to->add("cosine", &cosine_);
  to->add("cycle_momentum", &cycle_momentum_);
  to->add("three_phase", &three_phase_);
  to->add("max_lrs", &max_lrs_);
  to->add("min_lrs", &min_lrs_);
  to->add("base_momentums", &base_momentums_);
  to->add("max_momentums", &max_momentums_);
}

}  // namespace sy::optim
