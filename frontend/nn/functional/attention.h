#pragma once

#include <tuple>

#include "aten/tensor.h"
#include "frontend/nn/options/attention.h"

namespace sy::nn::functional {

// Attention of several heads (Vaswani et al., 2017): for each head h
//   softmax(Q_h K_h^T / sqrt(embed_dim / num_heads) + mask) V_h
// with projections Q, K, V of query, key and value; then one more projection of
// all heads side by side. Sizes are (length, batch, features), (batch, length,
// features) if batch_first, or (length, features).
//
// Masked keys take no part: attn_mask (query length, key length), or one for
// each head, (batch * num_heads, query length, key length); and
// key_padding_mask (batch, key length), without batch where the query has none.
// A mask of bool is true for masked keys, a floating one is added. With
// is_causal, query i meets keys up to i only; other masks apply beside. A query
// that meets no key gives zeros before the last projection.
//
// Also gives the weights, after dropout: (batch, query length, key length), the
// mean of all heads, or (batch, num_heads, query length, key length) without
// average_attn_weights. Without need_weights they are undefined, and the
// operator scaled_dot_product_attention runs, which needs less memory. Throws
// ValueError and TypeError, which name the argument, for sizes and dtypes that
// do not fit.
SY_API std::tuple<Tensor, Tensor> multi_head_attention_forward(
    const Tensor& query, const Tensor& key, const Tensor& value,
    const MultiheadAttentionForwardFuncOptions& options);

}  // namespace sy::nn::functional
