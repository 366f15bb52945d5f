#pragma once

#include "frontend/nn/modules/norm_base.h"

namespace sy::nn {

// As BatchNorm, but each sample has its own mean and variance. With
// track_running_stats, evaluation uses the running ones. The input has D + 2
// dimensions, or D + 1 without those of the batch; else ValueError.
template <size_t D>
class SY_API InstanceNormImpl : public NormImplBase<InstanceNormOptions> {
 public:
  using NormImplBase<InstanceNormOptions>::NormImplBase;
  Tensor forward(const Tensor& input);
};

extern template class InstanceNormImpl<1>;
extern template class InstanceNormImpl<2>;
extern template class InstanceNormImpl<3>;

class SY_API InstanceNorm1dImpl : public InstanceNormImpl<1> {
 public:
  using InstanceNormImpl<1>::InstanceNormImpl;
};
SY_MODULE(InstanceNorm1d);

class SY_API InstanceNorm2dImpl : public InstanceNormImpl<2> {
 public:
  using InstanceNormImpl<2>::InstanceNormImpl;
};
SY_MODULE(InstanceNorm2d);

class SY_API InstanceNorm3dImpl : public InstanceNormImpl<3> {
 public:
  using InstanceNormImpl<3>::InstanceNormImpl;
};
SY_MODULE(InstanceNorm3d);

}  // namespace sy::nn
