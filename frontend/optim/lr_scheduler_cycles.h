#pragma once

#include <optional>

#include "frontend/optim/lr_scheduler.h"

// Schedulers that go up and down.

namespace sy::optim {

struct CyclicLROptions {
  int64_t step_size_up = 2000;
  // By default step_size_up.
  std::optional<int64_t> step_size_down = std::nullopt;
  // "triangular"; "triangular2": each cycle has half the height of the one
  // before; "exp_range": the height is multiplied by gamma at each step.
  std::string mode = "triangular";
  double gamma = 1;
  // Instead of `mode`: the height by the number of the cycle, which begins at
  // 1, or of the step, as scale_mode says: "cycle" or "iterations".
  std::function<double(double)> scale_fn = nullptr;
  std::string scale_mode = "cycle";
  // Momentum, or the first beta, goes against the lr.
  bool cycle_momentum = true;
  PerGroup base_momentum = 0.8;
  PerGroup max_momentum = 0.9;
  int64_t last_epoch = -1;
};

// Goes between base_lr and max_lr: Smith, "Cyclical Learning Rates for Training
// Neural Networks" (2015). Step it after each batch.
class SY_API CyclicLR : public LRScheduler {
 public:
  CyclicLR(Optimizer& optimizer, const PerGroup& base_lr,
           const PerGroup& max_lr, CyclicLROptions options = {});

 protected:
  std::vector<double> get_lrs() override;
  void list(SchedulerNumbers* to) override;
  const char* name() const override { return "CyclicLR"; }

 private:
  double height(double cycle) const;

  CyclicLROptions options_;
  double total_size_, step_ratio_;
  std::vector<double> max_lrs_, base_momentums_, max_momentums_;
};

// Goes from base_lr to eta_min along a cosine in T_0 epochs, then again from
// base_lr in T_mult times as many, and so on: Loshchilov and Hutter, "SGDR:
// Stochastic Gradient Descent with Warm Restarts" (2016).
class SY_API CosineAnnealingWarmRestarts : public LRScheduler {
 public:
  CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t T_0,
                              int64_t T_mult = 1, double eta_min = 0,
                              int64_t last_epoch = -1);

  void step() override;
  // Goes to an epoch, which may have a fraction. Throws ValueError if it is
  // negative.
  void step(double epoch);

 protected:
  std::vector<double> get_lrs() override;
  void list(SchedulerNumbers* to) override;
  const char* name() const override { return "CosineAnnealingWarmRestarts"; }

 private:
  int64_t t_0_, t_mult_;
  double t_i_, t_cur_, eta_min_;
};

struct OneCycleLROptions {
  // The number of all steps; or else epochs and steps_per_epoch.
  std::optional<int64_t> total_steps = std::nullopt;
  std::optional<int64_t> epochs = std::nullopt;
  std::optional<int64_t> steps_per_epoch = std::nullopt;
  // The part of the steps that goes up.
  double pct_start = 0.3;
  // "cos" or "linear".
  std::string anneal_strategy = "cos";
  // Momentum, or the first beta, goes against the lr.
  bool cycle_momentum = true;
  PerGroup base_momentum = 0.85;
  PerGroup max_momentum = 0.95;
  // The lr begins at max_lr / div_factor, and ends at the final_div_factor-th
  // part of that.
  double div_factor = 25;
  double final_div_factor = 1e4;
  // Goes down as long as up, then to the end.
  bool three_phase = false;
  int64_t last_epoch = -1;
};

// Smith and Topin, "Super-Convergence: Very Fast Training of Neural Networks
// Using Large Learning Rates" (2017). Step it after each batch; a step beyond
// the last throws ValueError.
class SY_API OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, const PerGroup& max_lr,
             const OneCycleLROptions& options);

 protected:
  std::vector<double> get_lrs() override;
  void list(SchedulerNumbers* to) override;
  const char* name() const override { return "OneCycleLR"; }

 private:
  int64_t total_steps_ = 0;
  double pct_start_;
  bool cosine_, cycle_momentum_, three_phase_;
  std::vector<double> max_lrs_, min_lrs_, base_momentums_, max_momentums_;
};

}  // namespace sy::optim
