#pragma once

#include <cstdint>

#include "frontend/nn/container/any_module.h"
#include "frontend/nn/options/transformer_layer.h"

namespace sy::nn {

// Names and defaults are libtorch's; layer_norm_eps, batch_first, norm_first
// and bias are Python's. Options of the layers act on those of the parts that
// are not custom.
struct TransformerOptions {
  TransformerOptions() = default;
  TransformerOptions(int64_t d_model, int64_t nhead)
      : d_model_(d_model), nhead_(nhead) {}
  TransformerOptions(int64_t d_model, int64_t nhead, int64_t num_encoder_layers,
                     int64_t num_decoder_layers)
      : d_model_(d_model),
        nhead_(nhead),
        num_encoder_layers_(num_encoder_layers),
        num_decoder_layers_(num_decoder_layers) {}

  SY_ARG(int64_t, d_model) = 512;
  SY_ARG(int64_t, nhead) = 8;
  SY_ARG(int64_t, num_encoder_layers) = 6;
  SY_ARG(int64_t, num_decoder_layers) = 6;
  SY_ARG(int64_t, dim_feedforward) = 2048;
  SY_ARG(double, dropout) = 0.1;
  SY_ARG(activation_t, activation) = kReLU;
  // Called as forward(src, src_mask, src_key_padding_mask).
  SY_ARG(AnyModule, custom_encoder);
  // Called as forward(tgt, memory, tgt_mask, memory_mask,
  // tgt_key_padding_mask, memory_key_padding_mask).
  SY_ARG(AnyModule, custom_decoder);
  SY_ARG(double, layer_norm_eps) = 1e-5;
  SY_ARG(bool, batch_first) = false;
  SY_ARG(bool, norm_first) = false;
  SY_ARG(bool, bias) = true;
};

}  // namespace sy::nn
