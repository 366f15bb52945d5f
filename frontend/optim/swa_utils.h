#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "frontend/nn/module.h"
#include "frontend/optim/lr_scheduler.h"

// Averages of models while they are trained, under the names of
// torch.optim.swa_utils: equal ones (stochastic weight averaging, Izmailov et
// al., 2018) and exponential moving ones.
//
//   using namespace sy::optim::swa_utils;
//   AveragedModel ema(net, AveragedModelOptions().multi_avg_fn(
//                              get_ema_multi_avg_fn(0.999)));
//   for (...) {
//     adam.step();
//     ema->update_parameters(net);
//   }
//   update_bn(batches, ema);  // if the model has batch norms
//   ema->eval();
//   ema(x);

namespace sy::optim::swa_utils {

using optim::SWALR;

// The next average of a tensor, from the one before, the model's tensor, and
// how many models that one is of. It has the sizes of `averaged`; else
// update_parameters() throws ValueError.
using AvgFn = std::function<Tensor(
    const Tensor& averaged, const Tensor& current, int64_t num_averaged)>;
// The same for tensors of one device and dtype, in place of `averaged`.
using MultiAvgFn = std::function<void(TensorList averaged, TensorList current,
                                      int64_t num_averaged)>;

// decay * averaged + (1 - decay) * current. Throw ValueError for a decay that
// is not from 0 to 1.
SY_API AvgFn get_ema_avg_fn(double decay = 0.999);
SY_API MultiAvgFn get_ema_multi_avg_fn(double decay = 0.999);
// The mean of all models so far.
SY_API AvgFn get_swa_avg_fn();
SY_API MultiAvgFn get_swa_multi_avg_fn();

struct AveragedModelOptions {
  // The device of the average; by default the model's.
  SY_ARG(std::optional<Device>, device) = std::nullopt;
  // One of them, or none for get_swa_multi_avg_fn().
  SY_ARG(AvgFn, avg_fn);
  SY_ARG(MultiAvgFn, multi_avg_fn);
  // Averages buffers too. Else they are copies of the model's.
  SY_ARG(bool, use_buffers) = false;
};

namespace detail {

[[noreturn]] SY_API SY_COLD void no_model(const char* function);

template <class M>
M& pointee(const std::shared_ptr<M>& model, const char* function) {
  if (SY_UNLIKELY(model == nullptr)) no_model(function);
  return *model;
}

template <class M>
std::shared_ptr<M> copy_of(const M& model, std::optional<Device> device) {
  M& m = const_cast<M&>(model);
  // A module that no pointer owns, such as a variable, gets one for the call.
  const std::shared_ptr<nn::Module> owner = m.weak_from_this().lock();
  return nn::clone(owner == nullptr ? std::shared_ptr<M>(&m, [](M*) {})
                                    : std::shared_ptr<M>(owner, &m),
                   device);
}

}  // namespace detail

// The base class of averages of models of all types.
class SY_API AveragedModelImplBase : public nn::Module {
 public:
  // Takes the model into the average; the first time it is copied. Tensors
  // belong together by their places, and are converted to the average's device
  // and dtype. Buffers of dtype bool are always copied. Throws ValueError,
  // which names the path, if the model has another number of parameters or
  // buffers, or of other sizes; nothing has changed then.
  void update_parameters(const nn::Module& model);
  template <class M>
  void update_parameters(const std::shared_ptr<M>& model) {
    update_parameters(detail::pointee(model, "update_parameters"));
  }
  template <class M>
  void update_parameters(const nn::ModuleHolder<M>& model) {
    update_parameters(*model);
  }

  // How many models the average is of: int64, no dims.
  nn::Parameter n_averaged;

 protected:
  explicit AveragedModelImplBase(AveragedModelOptions options);

 private:
  AveragedModelOptions options_;
};

// A model whose tensors are averages of those that another model had:
// "n_averaged" and "module.…" in state dicts, as in PyTorch. It begins as a
// copy of the model, made by nn::clone(), which says for what it throws.
// Functions of the options are in no state dict.
template <class M>
class AveragedModelImpl : public AveragedModelImplBase {
 public:
  explicit AveragedModelImpl(const M& model, AveragedModelOptions options = {})
      : AveragedModelImplBase(options) {
    module =
        register_module("module", detail::copy_of(model, options.device()));
  }
  explicit AveragedModelImpl(const std::shared_ptr<M>& model,
                             AveragedModelOptions options = {})
      : AveragedModelImpl(detail::pointee(model, "AveragedModel"),
                          std::move(options)) {}
  explicit AveragedModelImpl(const nn::ModuleHolder<M>& model,
                             AveragedModelOptions options = {})
      : AveragedModelImpl(*model, std::move(options)) {}

  // Returns the result of the averaged model.
  template <class... A>
  requires requires(M& m, A&&... a) { m.forward(std::forward<A>(a)...); }
  auto forward(A&&... arguments) {
    return nn::call_module(*module, std::forward<A>(arguments)...);
  }

  nn::ModuleHolder<M> module = nullptr;
};

// AveragedModel average(net): of a holder, a pointer or a module.
template <class M>
class AveragedModel : public nn::ModuleHolder<AveragedModelImpl<M>> {
 public:
  using nn::ModuleHolder<AveragedModelImpl<M>>::ModuleHolder;
  using Impl = AveragedModelImpl<M>;
};
template <std::derived_from<nn::Module> M>
AveragedModel(const M&, AveragedModelOptions = {}) -> AveragedModel<M>;
template <class M>
AveragedModel(const std::shared_ptr<M>&, AveragedModelOptions = {})
    -> AveragedModel<M>;
template <class Holder>
AveragedModel(const Holder&, AveragedModelOptions = {})
    -> AveragedModel<typename Holder::ContainedType>;

namespace detail {

// Calls `pass` while the batch norms of the model train with cumulative
// averages that begin anew.
SY_API void update_bn(nn::Module& model, const std::function<void()>& pass);

template <class Batch>
const Tensor& input_of(const Batch& batch) {
  if constexpr (std::is_convertible_v<const Batch&, const Tensor&>) {
    return batch;
  } else if constexpr (requires { std::tuple_size<Batch>::value; }) {
    return std::get<0>(batch);
  } else {
    static_assert(
        requires {
          { batch.data } -> std::convertible_to<const Tensor&>;
        },
        "a batch is a tensor, a tuple or a pair whose first is one, "
        "or has a member `data`");
    return batch.data;
  }
}

}  // namespace detail

// Gives the batch norms of a model the means and variances of all batches,
// which are tensors, tuples or pairs whose first is one, or structs with a
// member `data`. Each batch is moved to `device`, if there is one, and the
// model is called with it, without gradients. Modes and momenta of modules are
// what they were afterwards, also if a call throws. Does nothing for a model
// without batch norms.
template <class Batches, std::derived_from<nn::Module> M>
void update_bn(Batches&& batches, M& model,
               std::optional<Device> device = std::nullopt) {
  detail::update_bn(model, [&] {
    for (auto&& batch : batches) {
      const Tensor& x = detail::input_of(batch);
      nn::call_module(model,
                      device.has_value() ? x.to(*device, x.scalar_type()) : x);
    }
  });
}
template <class Batches, class M>
void update_bn(Batches&& batches, const std::shared_ptr<M>& model,
               std::optional<Device> device = std::nullopt) {
  update_bn(batches, detail::pointee(model, "update_bn"), device);
}
template <class Batches, class M>
void update_bn(Batches&& batches, const nn::ModuleHolder<M>& model,
               std::optional<Device> device = std::nullopt) {
  update_bn(batches, *model, device);
}

}  // namespace sy::optim::swa_utils
