#pragma once

#include "frontend/nn/modules/attention.h"
#include "frontend/nn/modules/dropout.h"
#include "frontend/nn/modules/normalization.h"
#include "frontend/nn/options/transformer_layer.h"

// Layers of a transformer (Vaswani et al., 2017). Sizes and masks are those of
// functional::multi_head_attention_forward. Throw ValueError for sizes below 1,
// for heads that do not divide d_model, for a dropout that is no probability,
// and for an empty function as activation.

namespace sy::nn {

namespace detail {

// The norm of such layers.
SY_API LayerNorm layer_norm_like(const TransformerEncoderLayerOptions& options);

// The base of layers of encoder and decoder.
class SY_API TransformerLayerBase : public Module {
 public:
  TransformerEncoderLayerOptions options;
  MultiheadAttention self_attn = nullptr;
  Linear linear1 = nullptr;
  Dropout dropout = nullptr;
  Linear linear2 = nullptr;
  LayerNorm norm1 = nullptr;
  LayerNorm norm2 = nullptr;
  Dropout dropout1 = nullptr;
  Dropout dropout2 = nullptr;

 protected:
  explicit TransformerLayerBase(TransformerEncoderLayerOptions options);

  MultiheadAttention make_attention() const;
  LayerNorm make_norm() const { return layer_norm_like(options); }
  // Registers linear1, dropout and linear2.
  void reset_feed_forward();
  // linear2(dropout(activation(linear1(x))))
  Tensor feed_forward(const Tensor& x);
  // Puts a module under a name, in place of the one that is there.
  template <class Holder>
  void put(Holder& member, const char* name, Holder made) {
    member =
        Holder(named_children().contains(name) ? replace_module(name, made)
                                               : register_module(name, made));
  }
};

}  // namespace detail

// x = norm1(x + attention(x, x, x)), then norm2(x + feed_forward(x)); with
// norm_first x + attention(norm1(x), ...), then x + feed_forward(norm2(x)).
// Dropout acts on what is added.
class SY_API TransformerEncoderLayerImpl : public detail::TransformerLayerBase {
 public:
  TransformerEncoderLayerImpl(int64_t d_model, int64_t nhead)
      : TransformerEncoderLayerImpl(
            TransformerEncoderLayerOptions(d_model, nhead)) {}
  explicit TransformerEncoderLayerImpl(TransformerEncoderLayerOptions options);

  // Makes new parts by the options.
  void reset();
  void reset_parameters();
  Tensor forward(const Tensor& src, const Tensor& src_mask = {},
                 const Tensor& src_key_padding_mask = {},
                 bool is_causal = false);
};
SY_MODULE(TransformerEncoderLayer);

// The same, with attention to the result of the encoder, `memory`, and a norm
// between both.
class SY_API TransformerDecoderLayerImpl : public detail::TransformerLayerBase {
 public:
  TransformerDecoderLayerImpl(int64_t d_model, int64_t nhead)
      : TransformerDecoderLayerImpl(
            TransformerDecoderLayerOptions(d_model, nhead)) {}
  explicit TransformerDecoderLayerImpl(TransformerDecoderLayerOptions options);

  void reset();
  void reset_parameters();
  Tensor forward(Tensor tgt, const Tensor& memory, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {},
                 const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {},
                 bool tgt_is_causal = false, bool memory_is_causal = false);

  MultiheadAttention multihead_attn = nullptr;
  LayerNorm norm3 = nullptr;
  Dropout dropout3 = nullptr;
};
SY_MODULE(TransformerDecoderLayer);

}  // namespace sy::nn
