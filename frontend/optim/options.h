#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "aten/tensor.h"
#include "frontend/nn/arg.h"

namespace sy::optim {

class UpdateRule;

// SY_ARG for an option of an optimizer: its setter notes that somebody set it.
#define SY_OPTION(type, name)                           \
 public:                                                \
  auto name(type value)->decltype(*this) {              \
    this->note_set(#name);                              \
    this->name##_ = std::move(value);                   \
    return *this;                                       \
  }                                                     \
  const type& name() const noexcept { return name##_; } \
  type& name() noexcept { return name##_; }             \
                                                        \
 private:                                               \
  type name##_

// An option by its name. Borrows the options that it is of.
struct OptionRef {
  using Value =
      std::variant<double*, bool*, int64_t*, std::tuple<double, double>*,
                   std::tuple<double, double, double>*,
                   std::tuple<std::optional<double>, double>*,
                   std::optional<int64_t>*, std::optional<std::string>*>;
  const char* name;
  Value value;
};

// Throws ValueErrors "[Adam] param_groups[1].lr: expected ..., got ...".
class SY_API OptionCheck {
 public:
  // `where`: "[Adam] param_groups[1]."
  explicit OptionCheck(std::string where) : where_(std::move(where)) {}
  void at_least(const char* option, double value, double least) const;
  void at_most(const char* option, double value, double most) const;
  // At least 0 and less than 1.
  void decay(const char* option, double value) const;
  void decays(const char* option,
              const std::tuple<double, double>& values) const;
  // At least 0: what all optimizers ask of their lr.
  void lr(double value) const { at_least("lr", value, 0); }
  // Checks the options of Adam and its kin.
  template <class Options>
  void adam(const Options& o) const {
    lr(o.lr());
    decays("betas", o.betas());
    at_least("eps", o.eps(), 0);
    at_least("weight_decay", o.weight_decay(), 0);
  }
  [[noreturn]] void failed(const char* option, const std::string& expected,
                           const std::string& got) const;

 private:
  std::string where_;
};

// The options of a group of parameters. The options of each optimizer derive
// from it.
class SY_API OptimizerOptions {
 public:
  OptimizerOptions() = default;
  // Copies have no tensors yet.
  OptimizerOptions(const OptimizerOptions& other)
      : initial_lr_(other.initial_lr_),
        set_(other.set_),
        all_set_(other.all_set_),
        varying_(other.varying_) {}
  OptimizerOptions& operator=(const OptimizerOptions& other) {
    initial_lr_ = other.initial_lr_;
    varying_ = other.varying_;
    set_ = other.set_;
    all_set_ = other.all_set_;
    return *this;
  }
  virtual ~OptimizerOptions();

  virtual std::unique_ptr<OptimizerOptions> clone() const;
  // The options as they are if nobody sets anything.
  virtual std::unique_ptr<OptimizerOptions> fresh() const;
  // Throw NotImplementedError for options without an lr.
  virtual double get_lr() const;
  virtual void set_lr(double lr);

  // The optimizer's name, "Adam".
  virtual const char* optimizer() const;
  // All options, in the order of state dicts.
  virtual std::vector<OptionRef> list();
  // Throws ValueError for values that the optimizer does not take.
  virtual void check(const OptionCheck& check) const;
  // Throws ValueError for a parameter that it does not take; `where` names it.
  virtual void check_parameter(const Tensor& parameter,
                               const std::string& where) const;
  virtual bool is_capturable() const { return false; }
  virtual bool is_differentiable() const { return false; }
  // Takes the options that nobody set from those of an optimizer of the same
  // type; they keep these values for good. An option counts as set by its
  // setter, by the constructor's lr, or if it has not its usual value.
  void inherit(OptimizerOptions& defaults);

  // How parameters are updated; nullptr if step() is overridden instead.
  virtual const UpdateRule* rule() const { return nullptr; }

  // The lr that schedulers start from, once there is a scheduler.
  std::optional<double> initial_lr() const { return initial_lr_; }
  void set_initial_lr(std::optional<double> lr) { initial_lr_ = lr; }
  // The lr as a float64 tensor of no dims on `device`, for steps that are
  // captured. It follows set_lr.
  const Tensor& lr_tensor(Device device);
  // A number among the options that changes from step to step: captured steps
  // read it from number_tensor(), float64, so that they need not be captured
  // again.
  void vary(const double& number);
  bool varies(const double& number) const;
  const Tensor& number_tensor(const double& number, Device device);
  // Brings all these tensors up to date.
  void refresh_tensors() {
    if (!lr_tensors_.empty() && lr_in_tensors_ != get_lr()) {
      fill_lr_tensors(get_lr());
    }
    if (!numbers_.empty()) refresh_numbers();
  }

 protected:
  void fill_lr_tensors(double lr);
  // The setter of an option calls it. `option` is never freed.
  void note_set(const char* option);

 private:
  struct NumberTensor {
    const double* number;
    double value;  // what the tensor has
    Tensor tensor;
  };
  ptrdiff_t place_of(const double& number) const;
  void refresh_numbers();
  bool is_set(std::string_view option) const;

  std::optional<double> initial_lr_;
  std::vector<const char*> set_;
  bool all_set_ = false;
  double lr_in_tensors_ = 0;
  std::vector<Tensor> lr_tensors_;
  std::vector<ptrdiff_t> varying_;  // places in the object, in bytes
  std::vector<NumberTensor> numbers_;
};

// The base class of options: struct MyOptions : OptimizerCloneableOptions<
// MyOptions>, with a SY_OPTION for each. Finds lr, capturable and
// differentiable by their names.
template <class Derived>
class OptimizerCloneableOptions : public OptimizerOptions {
 public:
  std::unique_ptr<OptimizerOptions> clone() const override {
    return std::make_unique<Derived>(self());
  }
  std::unique_ptr<OptimizerOptions> fresh() const override {
    if constexpr (std::is_default_constructible_v<Derived>) {
      return std::make_unique<Derived>();
    } else {
      return nullptr;
    }
  }
  double get_lr() const override {
    if constexpr (requires { self().lr(); }) return self().lr();
    return OptimizerOptions::get_lr();
  }
  void set_lr(double lr) override {
    if constexpr (requires { self().lr(); }) {
      static_cast<Derived&>(*this).lr(lr);
      fill_lr_tensors(lr);
    } else {
      OptimizerOptions::set_lr(lr);
    }
  }
  bool is_capturable() const override {
    if constexpr (requires { self().capturable(); }) return self().capturable();
    return false;
  }
  bool is_differentiable() const override {
    if constexpr (requires { self().differentiable(); }) {
      return self().differentiable();
    }
    return false;
  }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

// The option of that name, or nullptr.
SY_API const OptionRef* find_option(const std::vector<OptionRef>& options,
                                    std::string_view name);

}  // namespace sy::optim
