#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "aten/tensor.h"
#include "c10/device/device.h"
#include "frontend/nn/module.h"

// One model on several devices of one process, each with its part of the
// batch:
//
//   sy::distributed::DataParallel parallel(model, {"cuda:0", "cuda:1"});
//   loss(parallel(images), labels).backward();
//
// Processes of their own (DistributedDataParallel) are faster: here the
// parameters are copied in each forward.

namespace sy::distributed {

using Devices = std::vector<Device>;

// The parts of a tensor along `dim`, on one device each: equal ones, but the
// last may be smaller, and there are fewer parts if there are too few rows
// (torch.chunk). Gradients flow back. Throws ValueError for a tensor without
// dimensions and for no devices.
SY_API std::vector<Tensor> scatter(const Tensor& t, const Devices& devices,
                                   int64_t dim = 0);

// The parts one after another, on device `to`. Parts without dimensions become
// a vector. Gradients flow back.
SY_API Tensor gather(const std::vector<Tensor>& parts, Device to,
                     int64_t dim = 0);

namespace detail {

// Splits the arguments of a call into those of the replicas: tensors, and those
// in lists, optionals, pairs and tuples, by rows; each replica gets a copy of
// anything else.
class SY_API Scattering {
 public:
  Scattering(const Devices& devices, int64_t dim);

  // Call it for each argument, before part().
  template <class A>
  void add(const A& value) {
    add_value(value);
    ++argument_;
  }
  // How many replicas have something to do.
  size_t size() const noexcept { return size_; }

  template <class A>
  auto part(const A& value, size_t replica) const {
    if constexpr (std::is_convertible_v<const A&, const Tensor&>) {
      return tensor_part(value, replica);
    } else if constexpr (requires { value.has_value(); }) {
      using Part = std::optional<decltype(part(*value, replica))>;
      return value.has_value() ? Part(part(*value, replica)) : Part();
    } else if constexpr (std::is_convertible_v<const A&, TensorList>) {
      std::vector<Tensor> all;
      for (const Tensor& t : TensorList(value)) {
        all.push_back(tensor_part(t, replica));
      }
      return all;
    } else if constexpr (requires { std::tuple_size<A>::value; }) {
      return std::apply(
          [&](const auto&... each) { return A(part(each, replica)...); },
          value);
    } else {
      return value;
    }
  }

 private:
  template <class A>
  void add_value(const A& value) {
    if constexpr (std::is_convertible_v<const A&, const Tensor&>) {
      add_tensor(value);
    } else if constexpr (requires { value.has_value(); }) {
      if (value.has_value()) add_value(*value);
    } else if constexpr (std::is_convertible_v<const A&, TensorList>) {
      for (const Tensor& t : TensorList(value)) add_tensor(t);
    } else if constexpr (requires { std::tuple_size<A>::value; }) {
      std::apply([&](const auto&... each) { (add_value(each), ...); }, value);
    }
  }
  void add_tensor(const Tensor& t);
  Tensor tensor_part(const Tensor& t, size_t replica) const;

  const Devices& devices_;
  int64_t dim_;
  size_t size_;
  int argument_ = 0, first_ = 0;  // first_: the one that has rows_
  int64_t rows_ = -1;             // -1: no tensor yet
};

[[noreturn]] SY_API SY_COLD void results_differ(size_t a, size_t b);

// Makes one result of those of the replicas.
class SY_API Gathering {
 public:
  // `alone`: there is one device, whose result stays as it is.
  Gathering(Device to, int64_t dim, bool alone)
      : to_(to), dim_(dim), alone_(alone) {}

  template <class R>
  R join(const std::vector<R>& parts) const {
    if constexpr (std::is_base_of_v<Tensor, R>) {
      return join_tensors(parts);
    } else if constexpr (requires { parts[0].has_value(); }) {
      if (!parts[0].has_value()) {
        for (const R& p : parts) {
          if (p.has_value()) results_differ(0, 1);
        }
        return R();
      }
      return R(join_each<typename R::value_type>(
          parts, [](const R& p) { return p.has_value() ? &*p : nullptr; }));
    } else if constexpr (requires(R & r) { r.push_back(r[0]); }) {
      R all;
      for (const R& p : parts) {
        if (p.size() != parts[0].size()) {
          results_differ(parts[0].size(), p.size());
        }
      }
      for (size_t i = 0; i < parts[0].size(); ++i) {
        all.push_back(join_each<typename R::value_type>(
            parts, [i](const R& p) { return &p[i]; }));
      }
      return all;
    } else if constexpr (requires { std::tuple_size<R>::value; }) {
      return join_tuples(parts,
                         std::make_index_sequence<std::tuple_size<R>::value>());
    } else {
      static_assert(std::is_base_of_v<Tensor, R>,
                    "DataParallel: forward must return tensors, or lists, "
                    "tuples or optionals of them");
    }
  }

 private:
  template <class E, class R, class Get>
  E join_each(const std::vector<R>& parts, const Get& get) const {
    std::vector<E> each;
    for (const R& p : parts) {
      const E* const e = get(p);
      if (e == nullptr) results_differ(1, 0);
      each.push_back(*e);
    }
    return join(each);
  }
  template <class R, size_t... I>
  R join_tuples(const std::vector<R>& parts, std::index_sequence<I...>) const {
    return R(join_each<std::tuple_element_t<I, R>>(
        parts, [](const R& p) { return &std::get<I>(p); })...);
  }
  Tensor join_tensors(const std::vector<Tensor>& parts) const;

  Device to_;
  int64_t dim_;
  bool alone_;
};

SY_API std::vector<std::shared_ptr<nn::Module>> replicas_of(
    const std::shared_ptr<nn::Module>& module, const Devices& devices);

SY_API void check_counts(size_t modules, size_t inputs, size_t devices);

// Calls f(i) for each device, with that as the current one, on threads of their
// own that act in the modes of this one. Throws the error of the lowest i.
SY_API void run_replicas(const Devices& devices,
                         const std::function<void(size_t)>& f);

// Throws ValueError for tensors elsewhere. No devices: all of the module's
// kind.
SY_API Devices devices_for(const nn::Module& module, Devices devices);

}  // namespace detail

// A copy of a module for each device. Parameters of copies are results of
// those of the module, so that gradients flow back to these, where those of all
// copies add up. Buffers are copied too. The first is the module itself, if it
// is on the first device: the changes that its forward makes to its buffers
// stay. Throws what Module::clone() throws.
template <class M>
std::vector<std::shared_ptr<M>> replicate(const std::shared_ptr<M>& module,
                                          const Devices& devices) {
  module->set_type(nn::detail::module_type<M>());
  std::vector<std::shared_ptr<M>> all;
  for (auto& m : detail::replicas_of(module, devices)) {
    all.push_back(std::static_pointer_cast<M>(std::move(m)));
  }
  return all;
}
template <class M>
std::vector<std::shared_ptr<M>> replicate(const nn::ModuleHolder<M>& module,
                                          const Devices& devices) {
  return replicate(module.ptr(), devices);
}

// Calls modules[i] with inputs[i], a tuple of its arguments, on devices[i]:
// each on a thread of its own, in the modes of this thread (no_grad, autocast,
// saved tensor hooks, anomaly mode, stream, rank). While calls are captured or
// transformed they run one after another. Throws the error of the first module
// that has one, when all have ended; it names replica and device. Errors that
// are not sy::Error become one. Throws ValueError if the numbers differ.
template <class M, class... A>
auto parallel_apply(const std::vector<std::shared_ptr<M>>& modules,
                    std::vector<std::tuple<A...>> inputs,
                    const Devices& devices) {
  using R = std::decay_t<decltype(nn::call_module(*modules[0],
                                                  std::declval<A&>()...))>;
  detail::check_counts(modules.size(), inputs.size(), devices.size());
  std::vector<std::optional<R>> made(modules.size());
  detail::run_replicas(devices, [&](size_t i) {
    made[i].emplace(std::apply(
        [&](A&... each) { return nn::call_module(*modules[i], each...); },
        inputs[i]));
  });
  std::vector<R> results;
  for (auto& r : made) results.push_back(*std::move(r));
  return results;
}
template <class M>
auto parallel_apply(const std::vector<std::shared_ptr<M>>& modules,
                    const std::vector<Tensor>& inputs, const Devices& devices) {
  return parallel_apply(
      modules, std::vector<std::tuple<Tensor>>(inputs.begin(), inputs.end()),
      devices);
}

// Calls a module on several devices, each with its rows of the arguments: all
// tensors are split along `dim` (ValueError if they have not as many rows), and
// other arguments are copied. Results are gathered on `output_device`: tensors,
// also in lists, optionals, pairs and tuples. A loss without dimensions becomes
// a vector of those of the replicas, unless there is one device.
//
// `devices` may name one several times. Parameters and buffers are on the first
// (else ValueError); changes that the first replica makes to buffers stay,
// those of others are lost. Copies share the hooks of the module, which then
// run on several threads.
template <class M>
class DataParallel {
 public:
  // No devices: all of the kind that the module is on. No output_device: the
  // first. Takes the module as a shared pointer or its holder.
  explicit DataParallel(std::shared_ptr<M> module, Devices devices = {},
                        std::optional<Device> output_device = std::nullopt,
                        int64_t dim = 0)
      : module_(std::move(module)),
        devices_(detail::devices_for(*module_, std::move(devices))),
        output_(output_device.value_or(devices_[0])),
        dim_(dim) {}
  explicit DataParallel(const nn::ModuleHolder<M>& module, Devices devices = {},
                        std::optional<Device> output_device = std::nullopt,
                        int64_t dim = 0)
      : DataParallel(module.ptr(), std::move(devices), output_device, dim) {}

  template <class... A>
  auto operator()(const A&... arguments) const {
    detail::devices_for(*module_, devices_);
    detail::Scattering scattering(devices_, dim_);
    (scattering.add(arguments), ...);
    const Devices used(
        devices_.begin(),
        devices_.begin() + static_cast<std::ptrdiff_t>(scattering.size()));
    using Arguments = std::tuple<decltype(scattering.part(arguments, 0))...>;
    std::vector<Arguments> inputs;
    for (size_t i = 0; i < used.size(); ++i) {
      inputs.push_back(Arguments(scattering.part(arguments, i)...));
    }
    const auto results =
        parallel_apply(replicate(module_, used), std::move(inputs), used);
    return detail::Gathering(output_, dim_, devices_.size() == 1).join(results);
  }
  M* operator->() const noexcept { return module_.get(); }
  M& operator*() const noexcept { return *module_; }
  const std::shared_ptr<M>& module() const noexcept { return module_; }
  const Devices& devices() const noexcept { return devices_; }
  Device output_device() const noexcept { return output_; }

 private:
  std::shared_ptr<M> module_;
  Devices devices_;
  Device output_;
  int64_t dim_;
};

template <class H, class... A>
requires requires { typename H::ContainedType; }
DataParallel(const H&, A...)->DataParallel<typename H::ContainedType>;

// The same in one call.
template <class M>
auto data_parallel(const M& module, const Tensor& input,
                   const Devices& devices = {},
                   std::optional<Device> output_device = std::nullopt,
                   int64_t dim = 0) {
  return DataParallel(module, devices, output_device, dim)(input);
}

}  // namespace sy::distributed
