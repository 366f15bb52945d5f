#pragma once

#include <cstdint>
#include <utility>

#include "aten/tensor.h"
#include "frontend/nn/arg.h"

// Options of the attention of several heads. Names and defaults are libtorch's;
// batch_first and is_causal are Python's.

namespace sy::nn {

struct MultiheadAttentionOptions {
  MultiheadAttentionOptions(int64_t embed_dim, int64_t num_heads)
      : embed_dim_(embed_dim),
        num_heads_(num_heads),
        kdim_(embed_dim),
        vdim_(embed_dim) {}

  SY_ARG(int64_t, embed_dim);
  // Each has embed_dim / num_heads features.
  SY_ARG(int64_t, num_heads);
  // The probability with which weights are dropped while training.
  SY_ARG(double, dropout) = 0.0;
  SY_ARG(bool, bias) = true;
  // One more key and value, both trained.
  SY_ARG(bool, add_bias_kv) = false;
  // One more key and value of zeros.
  SY_ARG(bool, add_zero_attn) = false;
  // The features of keys and values, embed_dim by default.
  SY_ARG(int64_t, kdim);
  SY_ARG(int64_t, vdim);
  // (batch, length, features) instead of (length, batch, features).
  SY_ARG(bool, batch_first) = false;
};

namespace functional {

struct MultiheadAttentionForwardFuncOptions {
  MultiheadAttentionForwardFuncOptions(int64_t embed_dim_to_check,
                                       int64_t num_heads, Tensor in_proj_weight,
                                       Tensor in_proj_bias, Tensor bias_k,
                                       Tensor bias_v, bool add_zero_attn,
                                       double dropout_p, Tensor out_proj_weight,
                                       Tensor out_proj_bias)
      : embed_dim_to_check_(embed_dim_to_check),
        num_heads_(num_heads),
        in_proj_weight_(std::move(in_proj_weight)),
        in_proj_bias_(std::move(in_proj_bias)),
        bias_k_(std::move(bias_k)),
        bias_v_(std::move(bias_v)),
        add_zero_attn_(add_zero_attn),
        dropout_p_(dropout_p),
        out_proj_weight_(std::move(out_proj_weight)),
        out_proj_bias_(std::move(out_proj_bias)) {}

  SY_ARG(int64_t, embed_dim_to_check);
  SY_ARG(int64_t, num_heads);
  // The weights of query, key and value below each other: (3 * embed_dim,
  // embed_dim).
  SY_ARG(Tensor, in_proj_weight);
  SY_ARG(Tensor, in_proj_bias);
  // (1, 1, embed_dim) both, or none.
  SY_ARG(Tensor, bias_k);
  SY_ARG(Tensor, bias_v);
  SY_ARG(bool, add_zero_attn);
  SY_ARG(double, dropout_p);
  SY_ARG(Tensor, out_proj_weight);
  SY_ARG(Tensor, out_proj_bias);
  SY_ARG(bool, training) = true;
  SY_ARG(Tensor, key_padding_mask);
  SY_ARG(bool, need_weights) = true;
  SY_ARG(Tensor, attn_mask);
  // The three weights below in place of in_proj_weight.
  SY_ARG(bool, use_separate_proj_weight) = false;
  SY_ARG(Tensor, q_proj_weight);
  SY_ARG(Tensor, k_proj_weight);
  SY_ARG(Tensor, v_proj_weight);
  // Keys and values in place of projected ones: (batch * num_heads, length,
  // embed_dim / num_heads).
  SY_ARG(Tensor, static_k);
  SY_ARG(Tensor, static_v);
  SY_ARG(bool, average_attn_weights) = true;
  SY_ARG(bool, is_causal) = false;
  SY_ARG(bool, batch_first) = false;
};

}  // namespace functional
}  // namespace sy::nn
