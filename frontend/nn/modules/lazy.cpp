#include "frontend/nn/modules/lazy.h"

#include "c10/dispatch/thread_state.h"
#include "frontend/nn/tensors.h"

namespace sy::nn {

namespace {

// Each layer: what its options are with so many channels, where its input has
// them, and which tensor of a state dict tells them.
LinearOptions with_channels(LinearOptions o, int64_t n) {
  o.in_features(n);
  return o;
}
template <size_t D>
ConvOptions<D> with_channels(ConvOptions<D> o, int64_t n) {
  o.in_channels(n);
  return o;
}
template <size_t D>
ConvTransposeOptions<D> with_channels(ConvTransposeOptions<D> o, int64_t n) {
  o.in_channels(n);
  return o;
}
BatchNormOptions with_channels(BatchNormOptions o, int64_t n) {
  o.num_features(n);
  return o;
}
InstanceNormOptions with_channels(InstanceNormOptions o, int64_t n) {
  o.num_features(n);
  return o;
}

int64_t least_channels(const auto& options) {
  if constexpr (requires { options.groups(); }) {
    return std::max<int64_t>(options.groups(), 1);
  } else {
    return 1;
  }
}

// The dim of the input, from its end.
int64_t channel_dim(const LinearImpl*, const Tensor&) { return 1; }
template <size_t D>
int64_t channel_dim(const ConvNdImpl<D>*, const Tensor&) {
  return static_cast<int64_t>(D) + 1;
}
template <size_t D>
int64_t channel_dim(const BatchNormImplBase<D>*, const Tensor& input) {
  return input.dim() - 1;
}
template <size_t D>
int64_t channel_dim(const InstanceNormImpl<D>*, const Tensor&) {
  return static_cast<int64_t>(D) + 1;
}

// -1: the state dict does not tell.
int64_t channels_in(const StateDict& state, const std::string& prefix,
                    const LinearImpl&) {
  const Tensor* const w = state.find(prefix + "weight");
  return w != nullptr && w->dim() == 2 ? w->size(1) : -1;
}
template <size_t D>
int64_t channels_in(const StateDict& state, const std::string& prefix,
                    const ConvNdImpl<D>& m) {
  const Tensor* const w = state.find(prefix + "weight");
  if (w == nullptr || w->dim() != static_cast<int64_t>(D) + 2) return -1;
  return m.options.transposed() ? w->size(0) : w->size(1) * m.options.groups();
}
template <class Options>
int64_t channels_in(const StateDict& state, const std::string& prefix,
                    const NormImplBase<Options>&) {
  for (const char* const name : {"weight", "running_mean"}) {
    const Tensor* const t = state.find(prefix + name);
    if (t != nullptr && t->dim() == 1) return t->size(0);
  }
  return -1;
}

// `to` takes over what `from` has, on its own device and in its own dtype.
void take_over(const Tensor& to, const Tensor& from) {
  const NoGradGuard no_grad;
  detail::set_data(to, from.to(to.device(), to.scalar_type()));
}

}  // namespace

template <class Base>
LazyImpl<Base>::LazyImpl(const Options& options)
    : Base(with_channels(options, least_channels(options))), wanted_(options) {
  // It knows the module by its argument, so that it works in clones.
  this->register_load_state_dict_pre_hook(
      [](Module& m, StateDict& state, const std::string& prefix) {
        auto& self = static_cast<LazyImpl&>(m);
        if (self.ready_) return;
        const int64_t n = channels_in(state, prefix, self);
        if (n >= 0) self.initialize_parameters(n);
      });
}

template <class Base>
void LazyImpl<Base>::initialize_parameters(int64_t channels) {
  const auto real = std::make_shared<Base>(with_channels(wanted_, channels));
  for (const auto& [name, t] : real->named_parameters(false)) {
    take_over(this->get_parameter(name), t);
  }
  for (const auto& [name, t] : real->named_buffers(false)) {
    take_over(this->get_buffer(name), t);
  }
  this->options = real->options;
  ready_ = true;
}

template <class Base>
Tensor LazyImpl<Base>::forward(const Tensor& input) {
  if (!ready_) {
    const int64_t d = channel_dim(this, input);
    SY_CHECK(d > 0 && d <= input.dim(), Value,
             "[{}] input: expected one with channels, got sizes {}",
             this->name(), input.sizes());
    initialize_parameters(input.size(-d));
  }
  return Base::forward(input);
}

template class LazyImpl<LinearImpl>;
template class LazyImpl<ConvImpl<1>>;
template class LazyImpl<ConvImpl<2>>;
template class LazyImpl<ConvImpl<3>>;
template class LazyImpl<ConvTransposeImpl<1>>;
template class LazyImpl<ConvTransposeImpl<2>>;
template class LazyImpl<ConvTransposeImpl<3>>;
template class LazyImpl<BatchNormImplBase<1>>;
template class LazyImpl<BatchNormImplBase<2>>;
template class LazyImpl<BatchNormImplBase<3>>;
template class LazyImpl<InstanceNormImpl<1>>;
template class LazyImpl<InstanceNormImpl<2>>;
template class LazyImpl<InstanceNormImpl<3>>;

}  // namespace sy::nn
