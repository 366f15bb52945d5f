#pragma once

#include <tuple>

#include "frontend/nn/modules/linear.h"
#include "frontend/nn/options/attention.h"

namespace sy::nn {

// Attention of several heads, as functional::multi_head_attention_forward.
// Parameters: in_proj_weight (3 * embed_dim, embed_dim), or q_proj_weight,
// k_proj_weight and v_proj_weight where kdim or vdim is not embed_dim;
// in_proj_bias; bias_k and bias_v if add_bias_kv; and the module out_proj.
// Weights of the input start by Glorot's formula, biases with 0. Throws
// ValueError, which names the option, for sizes below 1, for heads that do not
// divide embed_dim, and for a dropout that is no probability.
class SY_API MultiheadAttentionImpl : public Module {
 public:
  MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads)
      : MultiheadAttentionImpl(
            MultiheadAttentionOptions(embed_dim, num_heads)) {}
  explicit MultiheadAttentionImpl(const MultiheadAttentionOptions& options);

  // Makes new parameters by the options.
  void reset();
  void _reset_parameters();
  // The output and the weights.
  std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key,
                                     const Tensor& value,
                                     const Tensor& key_padding_mask = {},
                                     bool need_weights = true,
                                     const Tensor& attn_mask = {},
                                     bool average_attn_weights = true,
                                     bool is_causal = false);

  MultiheadAttentionOptions options;
  bool _qkv_same_embed_dim = true;
  Parameter in_proj_weight;
  Parameter in_proj_bias;
  Parameter bias_k;
  Parameter bias_v;
  Linear out_proj = nullptr;
  Parameter q_proj_weight;
  Parameter k_proj_weight;
  Parameter v_proj_weight;
  int64_t head_dim = 0;
};
SY_MODULE(MultiheadAttention);

}  // namespace sy::nn
