#pragma once

#include <memory>

#include "frontend/nn/modules/norm_base.h"

namespace sy::nn {

namespace detail {

// Computes the result of a BatchNorm that trains, and updates its running
// statistics, in its place: with the batches of other processes, too.
class SY_API TrainingForward {
 public:
  virtual ~TrainingForward();
  // The numbers of dimensions of `input` were checked.
  virtual Tensor forward(NormImplBase<BatchNormOptions>& norm,
                         const Tensor& input) = 0;
};

}  // namespace detail

// Each channel, dimension 1, minus its mean and divided by its standard
// deviation, times weight plus bias. Mean and variance are those of the batch
// while training and if there are no running ones; else the running ones, which
// training moves by the share `momentum` towards those of the batch. The input
// has D + 2 dimensions, in 1d also 2; else ValueError.
template <size_t D>
class SY_API BatchNormImplBase : public NormImplBase<BatchNormOptions> {
 public:
  using NormImplBase<BatchNormOptions>::NormImplBase;
  Tensor forward(const Tensor& input);

  // forward() calls it while training, if there is one. Clones share it.
  std::shared_ptr<detail::TrainingForward> training_forward;
};

extern template class BatchNormImplBase<1>;
extern template class BatchNormImplBase<2>;
extern template class BatchNormImplBase<3>;

class SY_API BatchNorm1dImpl : public BatchNormImplBase<1> {
 public:
  using BatchNormImplBase<1>::BatchNormImplBase;
};
SY_MODULE(BatchNorm1d);

class SY_API BatchNorm2dImpl : public BatchNormImplBase<2> {
 public:
  using BatchNormImplBase<2>::BatchNormImplBase;
};
SY_MODULE(BatchNorm2d);

class SY_API BatchNorm3dImpl : public BatchNormImplBase<3> {
 public:
  using BatchNormImplBase<3>::BatchNormImplBase;
};
SY_MODULE(BatchNorm3d);

}  // namespace sy::nn
