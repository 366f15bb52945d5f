#pragma once

#include <cstdint>
#include <functional>
#include <variant>

#include "aten/tensor.h"
#include "frontend/nn/arg.h"
#include "frontend/nn/options/enums.h"

// Options of the layers of a transformer. Names and defaults are libtorch's;
// layer_norm_eps, batch_first, norm_first and bias are Python's.

namespace sy::nn {

using activation_t = std::variant<enumtype::kReLU, enumtype::kGELU,
                                  std::function<Tensor(const Tensor&)>>;

struct TransformerEncoderLayerOptions {
  TransformerEncoderLayerOptions(int64_t d_model, int64_t nhead)
      : d_model_(d_model), nhead_(nhead) {}

  // The features of input and output.
  SY_ARG(int64_t, d_model);
  SY_ARG(int64_t, nhead);
  SY_ARG(int64_t, dim_feedforward) = 2048;
  SY_ARG(double, dropout) = 0.1;
  SY_ARG(activation_t, activation) = kReLU;
  SY_ARG(double, layer_norm_eps) = 1e-5;
  // (batch, length, features) instead of (length, batch, features).
  SY_ARG(bool, batch_first) = false;
  // LayerNorm before attention and feed-forward, instead of after the sum.
  SY_ARG(bool, norm_first) = false;
  SY_ARG(bool, bias) = true;
};
using TransformerDecoderLayerOptions = TransformerEncoderLayerOptions;

}  // namespace sy::nn
