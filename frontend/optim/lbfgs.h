#pragma once

#include <deque>

#include "frontend/optim/optimizer.h"

namespace sy::optim {

struct SY_API LBFGSOptions : OptimizerCloneableOptions<LBFGSOptions> {
  LBFGSOptions() = default;
  LBFGSOptions(double lr);
  SY_OPTION(double, lr) = 1;
  // Iterations and calls of the closure of a step; without max_eval, 5 / 4 of
  // max_iter.
  SY_OPTION(int64_t, max_iter) = 20;
  SY_OPTION(std::optional<int64_t>, max_eval) = std::nullopt;
  // The step ends at gradients, or changes, that are no greater.
  SY_OPTION(double, tolerance_grad) = 1e-7;
  SY_OPTION(double, tolerance_change) = 1e-9;
  SY_OPTION(int64_t, history_size) = 100;
  // "strong_wolfe", or none: each iteration goes lr along its direction.
  SY_OPTION(std::optional<std::string>, line_search_fn) = std::nullopt;
  SY_OPTION(bool, maximize) = false;

 public:
  const char* optimizer() const override { return "LBFGS"; }
  std::vector<OptionRef> list() override;
  void check(const OptionCheck& check) const override;
};

// The method of Broyden, Fletcher, Goldfarb and Shanno with a limited history:
// Nocedal and Wright, "Numerical Optimization", algorithms 7.4 and 3.5; the
// line search goes by cubic interpolation. It takes one group of parameters, of
// one dtype and device, and needs memory for 2 * history_size of them. A
// parameter without a gradient counts as one with zeros.
//
// State, under the key of the first parameter: func_evals, n_iter, and after
// the first iteration d, t, H_diag, prev_flat_grad, prev_loss, old_dirs,
// old_stps, ro; the last three with a row for each pair that is remembered.
class SY_API LBFGS : public OptimizerOf<LBFGSOptions> {
 public:
  explicit LBFGS(std::vector<OptimizerParamGroup> groups,
                 const LBFGSOptions& defaults = {});
  explicit LBFGS(std::vector<Tensor> parameters,
                 const LBFGSOptions& defaults = {});
  explicit LBFGS(const NamedTensors& parameters,
                 const LBFGSOptions& defaults = {});

  // Throws ValueError without a closure. Returns the first loss. If the closure
  // throws, the next step goes on from the last one that returned; parameters
  // are where they were or at a point that this step has tried.
  Tensor step(LossClosure closure) override;
  NamedTensors state_dict() const override;
  void load_state_dict(const NamedTensors& state) override;

 private:
  struct State {
    int64_t func_evals = 0, n_iter = 0;
    double t = 0, prev_loss = 0;
    Tensor d, prev_flat_grad, h_diag;
    std::deque<Tensor> old_dirs, old_stps, ro;
  };
  struct Point {
    double loss = 0;
    Tensor grad;
  };

  void check_parameters() const;
  const LBFGSOptions& options() const;
  int64_t numel() const;
  Point evaluate(const LossClosure& closure) const;
  Tensor flat_grad() const;
  void move(double t, const Tensor& d) const;
  void remember(State* s, const Tensor& grad) const;
  Tensor direction(const State& s, const Tensor& grad) const;

  State state_;
};

}  // namespace sy::optim
