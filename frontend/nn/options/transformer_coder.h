#pragma once

#include <cstdint>
#include <utility>

#include "frontend/nn/container/any_module.h"
#include "frontend/nn/modules/transformer_layer.h"

// Options of stacks of layers. Names and defaults are libtorch's.

namespace sy::nn {

struct TransformerEncoderOptions {
  TransformerEncoderOptions(TransformerEncoderLayer encoder_layer,
                            int64_t num_layers)
      : encoder_layer_(std::move(encoder_layer)), num_layers_(num_layers) {}
  TransformerEncoderOptions(const TransformerEncoderLayerOptions& layer_options,
                            int64_t num_layers)
      : TransformerEncoderOptions(TransformerEncoderLayer(layer_options),
                                  num_layers) {}

  // The layer that is copied; it is no part of the encoder.
  SY_ARG(TransformerEncoderLayer, encoder_layer) = nullptr;
  SY_ARG(int64_t, num_layers);
  // The module that takes the result of the last layer, if there is one.
  SY_ARG(AnyModule, norm);
};

struct TransformerDecoderOptions {
  TransformerDecoderOptions(TransformerDecoderLayer decoder_layer,
                            int64_t num_layers)
      : decoder_layer_(std::move(decoder_layer)), num_layers_(num_layers) {}
  TransformerDecoderOptions(const TransformerDecoderLayerOptions& layer_options,
                            int64_t num_layers)
      : TransformerDecoderOptions(TransformerDecoderLayer(layer_options),
                                  num_layers) {}

  SY_ARG(TransformerDecoderLayer, decoder_layer) = nullptr;
  SY_ARG(int64_t, num_layers);
  SY_ARG(AnyModule, norm);
};

}  // namespace sy::nn
