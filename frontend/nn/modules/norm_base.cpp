#include "frontend/nn/modules/norm_base.h"

#include "aten/ops/factory.h"
#include "frontend/nn/init.h"
#include "frontend/nn/python_text.h"

namespace sy::nn {

using detail::python_bool;
using detail::python_float;

template <class Options>
NormImplBase<Options>::NormImplBase(const Options& options) : options(options) {
  reset();
}

template <class Options>
void NormImplBase<Options>::reset() {
  const int64_t n = options.num_features();
  SY_CHECK(
      n >= 0, Value, "[{}] num_features: expected at least 0, got {}",
      std::is_same_v<Options, BatchNormOptions> ? "BatchNorm" : "InstanceNorm",
      n);
  const bool affine = options.affine(), tracked = options.track_running_stats();
  set_parameters(affine ? sy::ones({n}) : Tensor(),
                 affine ? sy::zeros({n}) : Tensor());
  running_mean =
      set_buffer("running_mean", tracked ? sy::zeros({n}) : Tensor());
  running_var = set_buffer("running_var", tracked ? sy::ones({n}) : Tensor());
  num_batches_tracked = set_buffer("num_batches_tracked",
                                   tracked ? sy::zeros({}, kLong) : Tensor());
}

template <class Options>
void NormImplBase<Options>::reset_running_stats() {
  if (!running_mean.defined()) return;
  running_mean.zero_();
  running_var.fill_(1);
  num_batches_tracked.zero_();
}

template <class Options>
void NormImplBase<Options>::reset_parameters() {
  reset_running_stats();
  if (weight.defined()) init::ones_(weight);
  if (bias.defined()) init::zeros_(bias);
}

template <class Options>
std::string NormImplBase<Options>::extra_repr() const {
  return str(
      "{}, eps={}, momentum={}, affine={}, bias={}, track_running_stats={}",
      options.num_features(), python_float(options.eps()),
      python_float(options.momentum()), python_bool(options.affine()),
      python_bool(bias.defined()), python_bool(options.track_running_stats()));
}

template <class Options>
void NormImplBase<Options>::upgrade_state_dict(StateDict& state,
                                               const std::string& prefix,
                                               int64_t found) const {
  const std::string key = prefix + "num_batches_tracked";
  if (found >= 2 || !num_batches_tracked.defined() || state.contains(key)) {
    return;
  }
  state.insert(key, sy::zeros({}, kLong));
}

template <class Options>
void NormImplBase<Options>::check_input(const Tensor& input, int64_t least_dim,
                                        int64_t most_dim,
                                        int64_t features_at) const {
  const int64_t dim = input.dim();
  if (SY_UNLIKELY(dim != least_dim && dim != most_dim)) {
    fail(ErrorKind::Value, "[{}] input: expected {}{} dimensions, got {}",
         name(), least_dim,
         least_dim == most_dim ? "" : str(" or {}", most_dim), dim);
  }
  if (SY_UNLIKELY(features_at >= 0 &&
                  input.size(features_at) != options.num_features())) {
    fail(ErrorKind::Value,
         "[{}] input: expected {} channels in dimension {}, got {}", name(),
         options.num_features(), features_at, input.size(features_at));
  }
}

template class NormImplBase<BatchNormOptions>;
template class NormImplBase<InstanceNormOptions>;

}  // namespace sy::nn
