#include "frontend/optim/lr_scheduler.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "frontend/optim/lr_scheduler_numbers.h"

namespace sy::optim {

namespace {

constexpr double kPi = std::numbers::pi;

std::vector<LRLambda> for_groups(const Optimizer& optimizer,
                                 const LRLambda& lambda) {
  return std::vector<LRLambda>(optimizer.param_groups().size(), lambda);
}

void check_lambdas(const char* scheduler, const std::vector<LRLambda>& lambdas,
                   const Optimizer& optimizer) {
  SY_CHECK(lambdas.size() == optimizer.param_groups().size(), Value,
           "[{}] lr_lambdas: expected {}, one for each group, got {}",
           scheduler, optimizer.param_groups().size(), lambdas.size());
  for (const LRLambda& f : lambdas) {
    SY_CHECK(f != nullptr, Value,
             "[{}] lr_lambda: expected a function, got none", scheduler);
  }
}

void check_positive(const char* scheduler, const char* name, int64_t value) {
  SY_CHECK(value > 0, Value, "[{}] {}: expected at least 1, got {}", scheduler,
           name, value);
}

double as_double(int64_t n) { return static_cast<double>(n); }

}  // namespace

LambdaLR::LambdaLR(Optimizer& optimizer, LRLambda lr_lambda, int64_t last_epoch)
    : LambdaLR(optimizer, for_groups(optimizer, lr_lambda), last_epoch) {}

LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<LRLambda> lr_lambdas,
                   int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), lambdas_(std::move(lr_lambdas)) {
  check_lambdas("LambdaLR", lambdas_, optimizer);
  initial_step();
}

std::vector<double> LambdaLR::get_lrs() {
  std::vector<double> lrs = base_lrs_;
  for (size_t i = 0; i < lrs.size(); ++i) lrs[i] *= lambdas_[i](last_epoch_);
  return lrs;
}

MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, LRLambda lr_lambda,
                                   int64_t last_epoch)
    : MultiplicativeLR(optimizer, for_groups(optimizer, lr_lambda),
                       last_epoch) {}

MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer,
                                   std::vector<LRLambda> lr_lambdas,
                                   int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), lambdas_(std::move(lr_lambdas)) {
  check_lambdas("MultiplicativeLR", lambdas_, optimizer);
  initial_step();
}

std::vector<double> MultiplicativeLR::get_lrs() {
  std::vector<double> lrs = get_current_lrs();
  if (is_initial_) return lrs;
  for (size_t i = 0; i < lrs.size(); ++i) lrs[i] *= lambdas_[i](last_epoch_);
  return lrs;
}

std::vector<double> MultiplicativeLR::closed_form() {
  std::vector<double> lrs = base_lrs_;
  for (size_t i = 0; i < lrs.size(); ++i) {
    for (int64_t e = 1; e <= last_epoch_; ++e) lrs[i] *= lambdas_[i](e);
  }
  return lrs;
}

StepLR::StepLR(Optimizer& optimizer, int64_t step_size, double gamma,
               int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), step_size_(step_size), gamma_(gamma) {
  check_positive("StepLR", "step_size", step_size);
  initial_step();
}

std::vector<double> StepLR::get_lrs() {
  const bool now = last_epoch_ != 0 && last_epoch_ % step_size_ == 0;
  return now ? scaled(gamma_) : get_current_lrs();
}

std::vector<double> StepLR::closed_form() {
  return scaled_base(std::pow(gamma_, as_double(last_epoch_ / step_size_)));
}

void StepLR::list(SchedulerNumbers* to) {
  LRScheduler::list(to);
  to->add("step_size", &step_size_);
  to->add("gamma", &gamma_);
}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones,
                         double gamma, int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch),
      milestones_(std::move(milestones)),
      gamma_(gamma) {
  std::sort(milestones_.begin(), milestones_.end());
  initial_step();
}

std::vector<double> MultiStepLR::get_lrs() {
  const auto n =
      std::count(milestones_.begin(), milestones_.end(), last_epoch_);
  return n == 0 ? get_current_lrs() : scaled(std::pow(gamma_, as_double(n)));
}

std::vector<double> MultiStepLR::closed_form() {
  const auto n =
      std::upper_bound(milestones_.begin(), milestones_.end(), last_epoch_) -
      milestones_.begin();
  return scaled_base(std::pow(gamma_, as_double(n)));
}

void MultiStepLR::list(SchedulerNumbers* to) {
  LRScheduler::list(to);
  to->add("milestones", &milestones_);
  to->add("gamma", &gamma_);
}

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, int64_t total_iters,
                       int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch),
      factor_(factor),
      total_iters_(total_iters) {
  SY_CHECK(factor >= 0 && factor <= 1, Value,
           "[ConstantLR] factor: expected 0 to 1, got {}", factor);
  initial_step();
}

std::vector<double> ConstantLR::get_lrs() {
  if (jumps()) return base_lrs_;
  if (total_iters_ <= 0) return get_current_lrs();
  if (last_epoch_ == 0) return scaled(factor_);
  if (last_epoch_ == total_iters_) return scaled(1 / factor_);
  return get_current_lrs();
}

std::vector<double> ConstantLR::closed_form() {
  return scaled_base(last_epoch_ >= total_iters_ ? 1 : factor_);
}

void ConstantLR::list(SchedulerNumbers* to) {
  LRScheduler::list(to);
  to->add("factor", &factor_);
  to->add("total_iters", &total_iters_);
}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor,
                   int64_t total_iters, int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch),
      start_factor_(start_factor),
      end_factor_(end_factor),
      total_iters_(total_iters) {
  SY_CHECK(start_factor > 0 && start_factor <= 1, Value,
           "[LinearLR] start_factor: expected more than 0 and at most 1, got "
           "{}",
           start_factor);
  SY_CHECK(end_factor >= 0 && end_factor <= 1, Value,
           "[LinearLR] end_factor: expected 0 to 1, got {}", end_factor);
  check_positive("LinearLR", "total_iters", total_iters);
  initial_step();
}

std::vector<double> LinearLR::get_lrs() {
  if (last_epoch_ == 0) return scaled(start_factor_);
  if (is_initial_ || last_epoch_ > total_iters_) return get_current_lrs();
  const double way = end_factor_ - start_factor_;
  return scaled(1 + way / (as_double(total_iters_) * start_factor_ +
                           as_double(last_epoch_ - 1) * way));
}

std::vector<double> LinearLR::closed_form() {
  const double done = as_double(std::min(total_iters_, last_epoch_));
  return scaled_base(start_factor_ + (end_factor_ - start_factor_) * done /
                                         as_double(total_iters_));
}

void LinearLR::list(SchedulerNumbers* to) {
  LRScheduler::list(to);
  to->add("start_factor", &start_factor_);
  to->add("end_factor", &end_factor_);
  to->add("total_iters", &total_iters_);
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma,
                             int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), gamma_(gamma) {
  initial_step();
}

std::vector<double> ExponentialLR::get_lrs() {
  return is_initial_ ? get_current_lrs() : scaled(gamma_);
}

std::vector<double> ExponentialLR::closed_form() {
  return scaled_base(std::pow(gamma_, as_double(last_epoch_)));
}

void ExponentialLR::list(SchedulerNumbers* to) {
  LRScheduler::list(to);
  to->add("gamma", &gamma_);
}

PolynomialLR::PolynomialLR(Optimizer& optimizer, int64_t total_iters,
                           double power, int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch),
      total_iters_(total_iters),
      power_(power) {
  check_positive("PolynomialLR", "total_iters", total_iters);
  initial_step();
}

std::vector<double> PolynomialLR::get_lrs() {
  if (is_initial_ || last_epoch_ > total_iters_) return get_current_lrs();
  const double n = as_double(total_iters_), epoch = as_double(last_epoch_);
  return scaled(std::pow((1 - epoch / n) / (1 - (epoch - 1) / n), power_));
}

std::vector<double> PolynomialLR::closed_form() {
  const double done = as_double(std::min(total_iters_, last_epoch_));
  return scaled_base(std::pow(1 - done / as_double(total_iters_), power_));
}

void PolynomialLR::list(SchedulerNumbers* to) {
  LRScheduler::list(to);
  to->add("total_iters", &total_iters_);
  to->add("power", &power_);
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, int64_t T_max,
                                     double eta_min, int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), t_max_(T_max), eta_min_(eta_min) {
  check_positive("CosineAnnealingLR", "T_max", T_max);
  initial_step();
}

std::vector<double> CosineAnnealingLR::get_lrs() {
  if (is_initial_) return get_current_lrs();
  std::vector<double> lrs = get_current_lrs();
  const double n = as_double(t_max_), epoch = as_double(last_epoch_);
  // At eta_min a factor says nothing: the way back begins.
  const bool at_end = (last_epoch_ - 1 - t_max_) % (2 * t_max_) == 0;
  const double factor =
      (1 + std::cos(kPi * epoch / n)) / (1 + std::cos(kPi * (epoch - 1) / n));
  for (size_t i = 0; i < lrs.size(); ++i) {
    lrs[i] = at_end ? lrs[i] + (base_lrs_[i] - eta_min_) *
                                   (1 - std::cos(kPi / n)) / 2
                    : factor * (lrs[i] - eta_min_) + eta_min_;
  }
  return lrs;
}

std::vector<double> CosineAnnealingLR::closed_form() {
  std::vector<double> lrs = base_lrs_;
  const double height =
      1 + std::cos(kPi * as_double(last_epoch_) / as_double(t_max_));
  for (double& lr : lrs) lr = eta_min_ + (lr - eta_min_) * height / 2;
  return lrs;
}

void CosineAnnealingLR::list(SchedulerNumbers* to) {
  LRScheduler::list(to);
  to->add("T_max", &t_max_);
  to->add("eta_min", &eta_min_);
}

SWALR::SWALR(Optimizer& optimizer, const PerGroup& swa_lr,
             int64_t anneal_epochs, const std::string& anneal_strategy,
             int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch),
      swa_lrs_(swa_lr.of(optimizer, "SWALR", "swa_lr")),
      anneal_epochs_(anneal_epochs),
      cosine_(anneal_strategy == "cos") {
  SY_CHECK(cosine_ || anneal_strategy == "linear", Value,
           "[SWALR] anneal_strategy: expected cos or linear, got {}",
           anneal_strategy);
  SY_CHECK(anneal_epochs >= 0, Value,
           "[SWALR] anneal_epochs: expected at least 0, got {}", anneal_epochs);
  initial_step();
}

std::vector<double> SWALR::get_lrs() {
  if (is_initial_ && last_epoch_ > 0) return get_current_lrs();
  int64_t step = last_epoch_;
  if (anneal_epochs_ == 0) step = std::max<int64_t>(1, step);
  const auto weight_at = [&](int64_t at) {
    const double way =
        as_double(at) / as_double(std::max<int64_t>(1, anneal_epochs_));
    const double t = std::clamp(way, 0.0, 1.0);
    return cosine_ ? (1 - std::cos(kPi * t)) / 2 : t;
  };
  const double before = weight_at(step - 1), weight = weight_at(step);
  std::vector<double> lrs = get_current_lrs();
  for (size_t i = 0; i < lrs.size(); ++i) {
    // The lr without what was added so far.
    const double first = before == 1
                             ? swa_lrs_[i]
                             : (lrs[i] - before * swa_lrs_[i]) / (1 - before);
    lrs[i] = swa_lrs_[i] * weight + first * (1 - weight);
  }
  return lrs;
}

void SWALR::list(SchedulerNumbers* to) {
  LRScheduler::list(to);
  to->add("swa_lrs", &swa_lrs_);
  to->add("anneal_epochs", &anneal_epochs_);
  to->add("cosine", &cosine_);
}

}  // namespace sy::optim
