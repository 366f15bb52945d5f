#pragma once

#include "frontend/nn/modules/weight_and_bias.h"
#include "frontend/nn/options/linear.h"

namespace sy::nn {

// Gives back its input. Arguments of the constructor are ignored.
class SY_API IdentityImpl : public Module {
 public:
  template <class... A>
  explicit IdentityImpl(const A&...) {}
  IdentityImpl(const IdentityImpl&) = default;
  void reset() {}
  Tensor forward(const Tensor& input) { return input; }
};
SY_MODULE(Identity);

// input * weight^T + bias over the last dimension: (..., in_features) to
// (..., out_features). Both start uniform within 1 / sqrt(in_features). Throws
// ValueError for negative sizes.
class SY_API LinearImpl : public detail::WeightAndBias {
 public:
  LinearImpl(int64_t in_features, int64_t out_features)
      : LinearImpl(LinearOptions(in_features, out_features)) {}
  explicit LinearImpl(const LinearOptions& options);

  // Makes new parameters by the options.
  void reset();
  void reset_parameters() { init_by_fan_in(); }
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;

  LinearOptions options;
};
SY_MODULE(Linear);

// y[..., k] = sum over i, j of x1[..., i] * weight[k, i, j] * x2[..., j], plus
// bias[k]: (..., in1_features) and (..., in2_features) to (..., out_features).
// Both start uniform within 1 / sqrt(in1_features).
class SY_API BilinearImpl : public detail::WeightAndBias {
 public:
  BilinearImpl(int64_t in1_features, int64_t in2_features, int64_t out_features)
      : BilinearImpl(
            BilinearOptions(in1_features, in2_features, out_features)) {}
  explicit BilinearImpl(const BilinearOptions& options);

  void reset();
  void reset_parameters();
  Tensor forward(const Tensor& input1, const Tensor& input2);
  std::string extra_repr() const override;

  BilinearOptions options;
};
SY_MODULE(Bilinear);

// Joins the dimensions start_dim to end_dim, that one too, into one.
class SY_API FlattenImpl : public Module {
 public:
  explicit FlattenImpl(const FlattenOptions& options = {}) : options(options) {}

  void reset() {}
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;

  FlattenOptions options;
};
SY_MODULE(Flatten);

// Splits one dimension into dimensions of the given sizes; one of them may be
// -1.
class SY_API UnflattenImpl : public Module {
 public:
  UnflattenImpl(int64_t dim, std::vector<int64_t> sizes)
      : UnflattenImpl(UnflattenOptions(dim, std::move(sizes))) {}
  explicit UnflattenImpl(UnflattenOptions options)
      : options(std::move(options)) {}

  void reset() {}
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;

  UnflattenOptions options;
};
SY_MODULE(Unflatten);

}  // namespace sy::nn
