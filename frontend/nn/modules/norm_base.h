#pragma once

#include "frontend/nn/modules/weight_and_bias.h"
#include "frontend/nn/options/batchnorm.h"
#include "frontend/nn/options/instancenorm.h"

namespace sy::nn {

// The base of layers that normalize channels: weight (ones) and bias (zeros) if
// `affine`; the buffers running_mean (zeros), running_var (ones) and
// num_batches_tracked if `track_running_stats`. Throws ValueError for negative
// num_features.
template <class Options>
class SY_API NormImplBase : public detail::WeightAndBias {
 public:
  explicit NormImplBase(const Options& options);

  // Makes new parameters and buffers by the options.
  void reset();
  void reset_running_stats();
  void reset_parameters();
  std::string extra_repr() const override;
  // Versions before 2 have no num_batches_tracked.
  int64_t version() const override { return 2; }

  Options options;
  Parameter running_mean;
  Parameter running_var;
  Parameter num_batches_tracked;

 protected:
  void upgrade_state_dict(StateDict& state, const std::string& prefix,
                          int64_t found) const override;
  // Throws ValueError unless the input has one of two numbers of dimensions
  // and, if `features_at` is not negative, num_features in that dimension.
  void check_input(const Tensor& input, int64_t least_dim, int64_t most_dim,
                   int64_t features_at) const;
};

extern template class NormImplBase<BatchNormOptions>;
extern template class NormImplBase<InstanceNormOptions>;

}  // namespace sy::nn
