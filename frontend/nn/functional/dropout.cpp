#include "frontend/nn/functional/dropout.h"

#include "aten/ops/dropout.h"
#include "aten/ops/view.h"

namespace sy::nn::functional {

namespace {

// `batched` is the number of dims of an input with a batch.
Tensor drop_channels(const char* op, Tensor& input, int64_t batched,
                     const DropoutFuncOptions& options) {
  SY_CHECK(input.dim() == batched || input.dim() == batched - 1, Value,
           "[{}] input: expected {} dims, or {} without a batch, got {}", op,
           batched, batched - 1, describe(input));
  const bool add_batch = input.dim() < batched;
  Tensor x = add_batch ? sy::unsqueeze(input, 0) : input;
  if (options.inplace()) {
    sy::feature_dropout_(x, options.p(), options.training());
    return input;
  }
  x = sy::feature_dropout(x, options.p(), options.training());
  return add_batch ? sy::squeeze(x, 0) : x;
}

}  // namespace

Tensor dropout(Tensor input, const DropoutFuncOptions& options) {
  return options.inplace()
             ? sy::dropout_(input, options.p(), options.training())
             : sy::dropout(input, options.p(), options.training());
}

Tensor dropout1d(Tensor input, const Dropout1dFuncOptions& options) {
  return drop_channels("dropout1d", input, 3, options);
}

Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options) {
  return drop_channels("dropout2d", input, 4, options);
}

Tensor dropout3d(Tensor input, const Dropout3dFuncOptions& options) {
  return drop_channels("dropout3d", input, 5, options);
}

Tensor alpha_dropout(Tensor input, const AlphaDropoutFuncOptions& options) {
  return options.inplace()
             ? sy::alpha_dropout_(input, options.p(), options.training())
             : sy::alpha_dropout(input, options.p(), options.training());
}

Tensor feature_alpha_dropout(Tensor input,
                             const FeatureAlphaDropoutFuncOptions& options) {
  return options.inplace() ? sy::feature_alpha_dropout_(input, options.p(),
                                                        options.training())
                           : sy::feature_alpha_dropout(input, options.p(),
                                                       options.training());
}

}  // namespace sy::nn::functional
