#include "frontend/nn/functional/normalization.h"

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/norm.h"
#include "aten/ops/normalization.h"
#include "aten/ops/padding.h"
#include "aten/ops/pooling.h"
#include "frontend/nn/functional/if_defined.h"

namespace sy::nn::functional {

using nn::detail::if_defined;

Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& o) {
  return sy::layer_norm(input, o.normalized_shape(), if_defined(o.weight()),
                        if_defined(o.bias()), o.eps());
}

Tensor rms_norm(const Tensor& input, const RMSNormFuncOptions& o) {
  return sy::rms_norm(input, o.normalized_shape(), if_defined(o.weight()),
                      o.eps());
}

Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& o) {
  return sy::group_norm(input, o.num_groups(), if_defined(o.weight()),
                        if_defined(o.bias()), o.eps());
}

Tensor local_response_norm(const Tensor& input,
                           const LocalResponseNormFuncOptions& o) {
  SY_CHECK(input.dim() >= 3, Value,
           "[local_response_norm] input: expected at least 3 dimensions, got "
           "{}",
           input.dim());
  SY_CHECK(o.size() >= 1, Value,
           "[local_response_norm] size: expected at least 1, got {}", o.size());
  if (input.numel() == 0) return input;
  const Tensor squares =
      input.mul(input).reshape({input.size(0), 1, input.size(1), -1});
  const Tensor padded =
      sy::constant_pad_nd(squares, {0, 0, o.size() / 2, (o.size() - 1) / 2});
  const Tensor means =
      sy::avg_pool2d(padded, {o.size(), 1}, 1).reshape(input.sizes());
  return input / means.mul(o.alpha()).add(o.k()).pow(o.beta());
}

Tensor normalize(const Tensor& input, NormalizeFuncOptions o) {
  const Tensor norm =
      sy::norm(input, o.p(), o.dim(), true).clamp_min(o.eps()).expand_as(input);
  if (!o.out().has_value()) return input / norm;
  return sy::div_out(*o.out(), input, norm);
}

}  // namespace sy::nn::functional
