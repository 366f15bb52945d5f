#pragma once

#include "frontend/nn/modules/norm_base.h"

namespace sy::nn {

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
