#pragma once

#include "frontend/nn/container/module_list.h"
#include "frontend/nn/options/transformer_coder.h"

namespace sy::nn {

// num_layers copies of encoder_layer, one after the other, and then norm. All
// start with the same parameters; reset_parameters() makes them differ. Throws
// ValueError for an empty encoder_layer and a num_layers below 1. Dropout,
// masks and sizes are those of the layers.
class SY_API TransformerEncoderImpl : public Module {
 public:
  TransformerEncoderImpl(TransformerEncoderLayer encoder_layer,
                         int64_t num_layers)
      : TransformerEncoderImpl(
            TransformerEncoderOptions(std::move(encoder_layer), num_layers)) {}
  explicit TransformerEncoderImpl(TransformerEncoderOptions options);

  // Makes new copies by the options.
  void reset();
  void reset_parameters();
  Tensor forward(const Tensor& src, const Tensor& src_mask = {},
                 const Tensor& src_key_padding_mask = {},
                 bool is_causal = false);

  TransformerEncoderOptions options;
  ModuleList layers = nullptr;
  AnyModule norm;
};
SY_MODULE(TransformerEncoder);

// The same of decoder_layer.
class SY_API TransformerDecoderImpl : public Module {
 public:
  TransformerDecoderImpl(TransformerDecoderLayer decoder_layer,
                         int64_t num_layers)
      : TransformerDecoderImpl(
            TransformerDecoderOptions(std::move(decoder_layer), num_layers)) {}
  explicit TransformerDecoderImpl(TransformerDecoderOptions options);

  void reset();
  void reset_parameters();
  Tensor forward(const Tensor& tgt, const Tensor& memory,
                 const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {},
                 bool tgt_is_causal = false, bool memory_is_causal = false);

  TransformerDecoderOptions options;
  ModuleList layers = nullptr;
  AnyModule norm;
};
SY_MODULE(TransformerDecoder);

}  // namespace sy::nn
