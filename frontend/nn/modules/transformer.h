#pragma once

#include "frontend/nn/modules/transformer_coder.h"
#include "frontend/nn/options/transformer.h"

namespace sy::nn {

// Encoder and decoder (Vaswani et al., 2017), each with a LayerNorm at its end.
// Weights of two and more dims start by Glorot's formula.
class SY_API TransformerImpl : public Module {
 public:
  explicit TransformerImpl(TransformerOptions options = {});
  TransformerImpl(int64_t d_model, int64_t nhead)
      : TransformerImpl(TransformerOptions(d_model, nhead)) {}

  // Makes new parts by the options.
  void reset();
  void reset_parameters();
  // src (source length, batch, d_model) and tgt (target length, batch, d_model)
  // to the sizes of tgt; batch_first and no batch as in the layers. The flags
  // go to the encoder and decoder only if set, and custom ones have to take
  // them then. Throws ValueError for other sizes.
  Tensor forward(const Tensor& src, const Tensor& tgt,
                 const Tensor& src_mask = {}, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {},
                 const Tensor& src_key_padding_mask = {},
                 const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {},
                 bool src_is_causal = false, bool tgt_is_causal = false,
                 bool memory_is_causal = false);
  // (sz, sz), to be added: -inf where a column is beyond its row, 0 elsewhere.
  // A flag is_causal does the same with less memory.
  static Tensor generate_square_subsequent_mask(int64_t sz);

  TransformerOptions options;
  AnyModule encoder;
  AnyModule decoder;
};
SY_MODULE(Transformer);

}  // namespace sy::nn
