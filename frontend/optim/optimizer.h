#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "aten/tensor.h"
#include "frontend/io/named_tensors.h"
#include "frontend/optim/misfits.h"
#include "frontend/optim/options.h"

// Optimizers under the names of torch::optim, which has the formulas.
//
//   sy::optim::Adam adam(net->named_parameters(), AdamOptions(1e-3));
//   for (...) {
//     adam.zero_grad();
//     loss(x, y).backward();
//     adam.step();
//   }
//
// The header of each optimizer has its formula, its options and its state. A
// parameter without a gradient is skipped. Not thread-safe.

namespace sy::serialize {
class InputArchive;
class OutputArchive;
}  // namespace sy::serialize

namespace sy::optim {

using NamedParameters = std::vector<std::pair<std::string, Tensor>>;

// Parameters with options of their own. Without options, they have those of the
// optimizer, which an option that nobody set has too:
// OptimizerOptions::inherit.
class SY_API OptimizerParamGroup {
 public:
  OptimizerParamGroup(std::vector<Tensor> params,
                      std::unique_ptr<OptimizerOptions> options = nullptr)
      : params_(std::move(params)), options_(std::move(options)) {}
  OptimizerParamGroup(const NamedTensors& params,
                      std::unique_ptr<OptimizerOptions> options = nullptr);
  OptimizerParamGroup(const OptimizerParamGroup& other);
  OptimizerParamGroup(OptimizerParamGroup&&) = default;
  OptimizerParamGroup& operator=(const OptimizerParamGroup&) = delete;
  OptimizerParamGroup& operator=(OptimizerParamGroup&&) = default;
  ~OptimizerParamGroup() = default;

  bool has_options() const { return options_ != nullptr; }
  // These throw ValueError if there are none.
  OptimizerOptions& options();
  const OptimizerOptions& options() const;
  void set_options(std::unique_ptr<OptimizerOptions> options) {
    options_ = std::move(options);
  }
  std::vector<Tensor>& params() { return params_; }
  const std::vector<Tensor>& params() const { return params_; }
  // One for each parameter, or none.
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<Tensor> params_;
  std::vector<std::string> names_;
  std::unique_ptr<OptimizerOptions> options_;
};

class SY_API Optimizer {
 public:
  using LossClosure = std::function<Tensor()>;

  // These throw ValueError, or TypeError for options of another optimizer: a
  // group or an optimizer without parameters, a parameter that stands twice or
  // is no leaf (unless differentiable), names for some parameters only, and
  // values of options that are out of range.
  Optimizer(std::vector<OptimizerParamGroup> groups,
            std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(std::vector<Tensor> parameters,
            std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(const NamedTensors& parameters,
            std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(const Optimizer&) = delete;
  Optimizer(Optimizer&&) noexcept;
  Optimizer& operator=(const Optimizer&) = delete;
  Optimizer& operator=(Optimizer&&) noexcept;
  virtual ~Optimizer();

  void add_param_group(const OptimizerParamGroup& group);

  // Updates the parameters. `closure` computes the loss and its gradients, and
  // is called first, in grad mode. Returns its result; without it, an undefined
  // tensor. If the closure throws, nothing has changed. Throws ValueError for a
  // gradient of other sizes than its parameter; no parameter of the group has
  // changed then.
  virtual Tensor step(LossClosure closure = nullptr);
  // Takes the gradients away, or fills them with zeros.
  void zero_grad(bool set_to_none = true);

  std::vector<OptimizerParamGroup>& param_groups() noexcept;
  const std::vector<OptimizerParamGroup>& param_groups() const noexcept;
  // The parameters of the first group.
  std::vector<Tensor>& parameters() noexcept;
  const std::vector<Tensor>& parameters() const noexcept;
  // The number of parameters in all groups.
  size_t size() const noexcept;
  OptimizerOptions& defaults() noexcept;
  const OptimizerOptions& defaults() const noexcept;
  // The state of each parameter, by its TensorImpl: "exp_avg", "step".
  std::unordered_map<void*, NamedTensors> state() const;

  // Everything that a run needs to go on, as tensors: "state.KEY.exp_avg",
  // where KEY is the parameter's name or, without names, its number in all
  // groups; "param_groups.0.lr", float64, int64 or bool, and of several
  // elements for options that have several; text is uint8; an option that is
  // not set has no elements. Tensors share the memory of the optimizer's.
  virtual NamedTensors state_dict() const;
  // Copies such a state. Throws one ValueError with all names that are missing,
  // unexpected, or of other sizes; nothing has changed then.
  virtual void load_state_dict(const NamedTensors& state);
  // The same by sy::save(optimizer, path) and sy::load(optimizer, path) of
  // <sy/io.h>, in the layout of libtorch's optimizers, both ways. libtorch does
  // not read the names of parameters, nor options that it does not have.
  //
  // If the archive names the same parameters as this optimizer, states go by
  // name, otherwise by the parameter's place in its group. Options that
  // libtorch does not have stay as they are where the archive has none.
  //
  // load() throws ValueError as load_state_dict does, also for another number
  // of groups or of parameters in one, and for archives of libtorch before 1.5
  // or of something else; nothing has changed then. save() throws ValueError if
  // state_dict() is overridden and has a state of no parameter.
  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);

 protected:
  // The parameter's name or number.
  std::string key_of(size_t group, size_t index) const;
  void save_options(NamedTensors* to) const;
  // The options that `state` has, one set for each group. Names that are not
  // options are not looked at.
  std::vector<std::unique_ptr<OptimizerOptions>> read_options(
      const NamedTensors& state, Misfits* misfits) const;
  void set_options(std::vector<std::unique_ptr<OptimizerOptions>> options);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The base class of optimizers: their constructors.
template <class Options>
class OptimizerOf : public Optimizer {
 public:
  explicit OptimizerOf(std::vector<OptimizerParamGroup> groups,
                       const Options& defaults = {})
      : Optimizer(std::move(groups), std::make_unique<Options>(defaults)) {}
  explicit OptimizerOf(std::vector<Tensor> parameters,
                       const Options& defaults = {})
      : Optimizer(std::move(parameters), std::make_unique<Options>(defaults)) {}
  explicit OptimizerOf(const NamedTensors& parameters,
                       const Options& defaults = {})
      : Optimizer(parameters, std::make_unique<Options>(defaults)) {}
  // A template, so that braces mean NamedTensors.
  template <std::same_as<NamedParameters> Named>
  explicit OptimizerOf(const Named& parameters, const Options& defaults = {})
      : OptimizerOf(NamedTensors(parameters), defaults) {}
};

}  // namespace sy::optim
