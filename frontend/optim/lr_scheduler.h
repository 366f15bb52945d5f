#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frontend/optim/optimizer.h"

// Schedulers of learning rates, under the names of torch.optim.lr_scheduler,
// which has the formulas. A scheduler is made for an optimizer, which must live
// longer. Making it sets the learning rates of the first epoch; step() after
// each epoch, or each batch, sets the next ones.
//
//   StepLR scheduler(adam, 30, 0.1);
//   for (...) {
//     train(adam);
//     scheduler.step();
//   }
//
// `last_epoch`, the steps taken less one, goes on with a run whose optimizer
// has its state back: its groups have an initial_lr, or ValueError is thrown.
// The learning rates are then those of the next epoch, by the epoch and
// initial_lr alone, whether the state was saved before or after the step to it.
// Learning rates that this scheduler alone does not give stay as they are,
// since others had a part in them. All throw ValueError for arguments out of
// range.

namespace sy::optim {

// The numbers of a scheduler by name.
class SchedulerNumbers;

// A number for each group, or one for all.
class SY_API PerGroup {
 public:
  PerGroup(double all) : values_{all}, one_(true) {}
  PerGroup(std::vector<double> values)
      : values_(std::move(values)), one_(false) {}
  // Throws ValueError "[scheduler] name: expected ..." for another number of
  // values than of groups.
  std::vector<double> of(const Optimizer& optimizer, const char* scheduler,
                         const char* name) const;

 private:
  std::vector<double> values_;
  bool one_;
};

class SY_API LRScheduler {
 public:
  LRScheduler(const LRScheduler&) = delete;
  virtual ~LRScheduler();

  // Sets the learning rates of the next epoch.
  virtual void step();
  // The learning rates that were set last, one for each group.
  const std::vector<double>& get_last_lr() const { return last_lr_; }
  int64_t last_epoch() const { return last_epoch_; }
  Optimizer& optimizer() const { return optimizer_; }

  // All numbers as tensors of no dims: "last_epoch", "base_lrs.0". Functions
  // are not part of it.
  NamedTensors state_dict() const;
  // Throws one ValueError with all names that are missing, unexpected or no
  // single numbers; nothing has changed then.
  void load_state_dict(const NamedTensors& state);

 protected:
  explicit LRScheduler(Optimizer& optimizer, int64_t last_epoch = -1);

  // The learning rates of last_epoch_, from those of now.
  virtual std::vector<double> get_lrs() = 0;
  // The same from the first ones alone, if get_lrs() looks at those of now.
  virtual std::vector<double> closed_form() { return {}; }
  // Whether the learning rates of last_epoch_ are no multiple of those before.
  virtual bool jumps() const { return false; }
  // Adds the numbers that a run needs.
  virtual void list(SchedulerNumbers* to);
  virtual const char* name() const { return "LRScheduler"; }
  // Constructors end with it.
  virtual void initial_step();
  // Epoch 0, upon the learning rates of now.
  virtual void restart();
  // The same upon the first ones, as part of a sequence.
  virtual void begin();

  std::vector<double> get_current_lrs() const;
  // The current ones times a factor.
  std::vector<double> scaled(double factor) const;
  std::vector<double> scaled_base(double factor) const;
  void set_lrs(const std::vector<double>& lrs);
  void start_at(int64_t epoch);
  // Begins, and takes so many steps.
  void replay(int64_t steps);

  Optimizer& optimizer_;
  std::vector<double> base_lrs_, last_lr_;
  int64_t last_epoch_, step_count_ = 0;
  bool is_initial_ = false;
  // Made with last_epoch, and no step since.
  bool is_resumed_ = false;

 private:
  std::vector<double> closed_form_at(int64_t epoch);
  bool is_alone();

  friend class SequentialLR;
  friend class ChainedScheduler;
};

using LRLambda = std::function<double(int64_t)>;

// base_lr * lr_lambda(epoch). One function for all groups, or one for each.
class SY_API LambdaLR : public LRScheduler {
 public:
  LambdaLR(Optimizer& optimizer, LRLambda lr_lambda, int64_t last_epoch = -1);
  LambdaLR(Optimizer& optimizer, std::vector<LRLambda> lr_lambdas,
           int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  const char* name() const override { return "LambdaLR"; }

 private:
  std::vector<LRLambda> lambdas_;
};

// lr * lr_lambda(epoch), from the second epoch on. In a sequence it begins at
// base_lr, as all do.
class SY_API MultiplicativeLR : public LRScheduler {
 public:
  MultiplicativeLR(Optimizer& optimizer, LRLambda lr_lambda,
                   int64_t last_epoch = -1);
  MultiplicativeLR(Optimizer& optimizer, std::vector<LRLambda> lr_lambdas,
                   int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> closed_form() override;
  const char* name() const override { return "MultiplicativeLR"; }

 private:
  std::vector<LRLambda> lambdas_;
};

// Multiplies the lr by gamma every step_size epochs.
class SY_API StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, int64_t step_size, double gamma = 0.1,
         int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> closed_form() override;
  void list(SchedulerNumbers* to) override;
  const char* name() const override { return "StepLR"; }

 private:
  int64_t step_size_;
  double gamma_;
};

// Multiplies the lr by gamma at each milestone. One that stands twice counts
// twice.
class SY_API MultiStepLR : public LRScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones,
              double gamma = 0.1, int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> closed_form() override;
  void list(SchedulerNumbers* to) override;
  const char* name() const override { return "MultiStepLR"; }

 private:
  std::vector<int64_t> milestones_;
  double gamma_;
};

// base_lr times factor in the first total_iters epochs. factor: 0 to 1. After
// factor 0 the learning rates are base_lr again.
class SY_API ConstantLR : public LRScheduler {
 public:
  explicit ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3,
                      int64_t total_iters = 5, int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> closed_form() override;
  bool jumps() const override {
    return factor_ == 0 && last_epoch_ == total_iters_;
  }
  void list(SchedulerNumbers* to) override;
  const char* name() const override { return "ConstantLR"; }

 private:
  double factor_;
  int64_t total_iters_;
};

// base_lr times a factor that goes from start_factor to end_factor in
// total_iters epochs. 0 < start_factor <= 1, 0 <= end_factor <= 1.
class SY_API LinearLR : public LRScheduler {
 public:
  explicit LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3,
                    double end_factor = 1, int64_t total_iters = 5,
                    int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> closed_form() override;
  void list(SchedulerNumbers* to) override;
  const char* name() const override { return "LinearLR"; }

 private:
  double start_factor_, end_factor_;
  int64_t total_iters_;
};

// Multiplies the lr by gamma every epoch.
class SY_API ExponentialLR : public LRScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma, int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> closed_form() override;
  void list(SchedulerNumbers* to) override;
  const char* name() const override { return "ExponentialLR"; }

 private:
  double gamma_;
};

// base_lr times (1 - epoch / total_iters)^power, which ends at 0.
class SY_API PolynomialLR : public LRScheduler {
 public:
  explicit PolynomialLR(Optimizer& optimizer, int64_t total_iters = 5,
                        double power = 1, int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> closed_form() override;
  void list(SchedulerNumbers* to) override;
  const char* name() const override { return "PolynomialLR"; }

 private:
  int64_t total_iters_;
  double power_;
};

// Goes from base_lr to eta_min along a cosine in T_max epochs, then back, and
// so on: Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm
// Restarts" (2016), without the restarts.
class SY_API CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min = 0,
                    int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> closed_form() override;
  void list(SchedulerNumbers* to) override;
  const char* name() const override { return "CosineAnnealingLR"; }

 private:
  int64_t t_max_;
  double eta_min_;
};

// Goes from the lr of now to swa_lr in anneal_epochs epochs: for stochastic
// weight averaging. anneal_strategy: "cos" or "linear". In a sequence it begins
// at the lr of now too.
class SY_API SWALR : public LRScheduler {
 public:
  SWALR(Optimizer& optimizer, const PerGroup& swa_lr,
        int64_t anneal_epochs = 10, const std::string& anneal_strategy = "cos",
        int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  void list(SchedulerNumbers* to) override;
  const char* name() const override { return "SWALR"; }
  void begin() override { restart(); }

 private:
  std::vector<double> swa_lrs_;
  int64_t anneal_epochs_;
  bool cosine_;
};

}  // namespace sy::optim
