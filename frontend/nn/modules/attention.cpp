#include "frontend/nn/modules/attention.h"

#include "aten/ops/factory.h"
#include "frontend/nn/functional/attention.h"
#include "frontend/nn/init.h"

namespace sy::nn {

MultiheadAttentionImpl::MultiheadAttentionImpl(
    const MultiheadAttentionOptions& options)
    : options(options) {
  reset();
}

void MultiheadAttentionImpl::reset() {
  constexpr const char* kName = "MultiheadAttention";
  const MultiheadAttentionOptions& o = options;
  const int64_t e = o.embed_dim();
  detail::check_at_least(1, kName, "embed_dim", e);
  detail::check_at_least(1, kName, "num_heads", o.num_heads());
  detail::check_at_least(1, kName, "kdim", o.kdim());
  detail::check_at_least(1, kName, "vdim", o.vdim());
  SY_CHECK(e % o.num_heads() == 0, Value,
           "[{}] num_heads: expected a divisor of embed_dim, {}, got {}", kName,
           e, o.num_heads());
  SY_CHECK(o.dropout() >= 0 && o.dropout() <= 1, Value,
           "[{}] dropout: expected a probability, got {}", kName, o.dropout());

  head_dim = e / o.num_heads();
  _qkv_same_embed_dim = o.kdim() == e && o.vdim() == e;
  const auto put = [&](Parameter& member, const char* name, bool wanted,
                       IntArrayRef sizes) {
    member = set_parameter(name, wanted ? sy::empty(sizes) : Tensor());
  };
  put(in_proj_weight, "in_proj_weight", _qkv_same_embed_dim, {3 * e, e});
  put(q_proj_weight, "q_proj_weight", !_qkv_same_embed_dim, {e, e});
  put(k_proj_weight, "k_proj_weight", !_qkv_same_embed_dim, {e, o.kdim()});
  put(v_proj_weight, "v_proj_weight", !_qkv_same_embed_dim, {e, o.vdim()});
  put(in_proj_bias, "in_proj_bias", o.bias(), {3 * e});
  put(bias_k, "bias_k", o.add_bias_kv(), {1, 1, e});
  put(bias_v, "bias_v", o.add_bias_kv(), {1, 1, e});
  if (!out_proj.is_empty()) unregister_module("out_proj");
  out_proj =
      register_module("out_proj", Linear(LinearOptions(e, e).bias(o.bias())));
  _reset_parameters();
}

void MultiheadAttentionImpl::_reset_parameters() {
  for (const Tensor& w :
       {in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight}) {
    if (w.defined()) init::xavier_uniform_(w);
  }
  if (in_proj_bias.defined()) {
    init::zeros_(in_proj_bias);
    init::zeros_(out_proj->bias);
  }
  if (bias_k.defined()) {
    init::xavier_normal_(bias_k);
    init::xavier_normal_(bias_v);
  }
}

std::tuple<Tensor, Tensor> MultiheadAttentionImpl::forward(
    const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& key_padding_mask, bool need_weights, const Tensor& attn_mask,
    bool average_attn_weights, bool is_causal) {
  return functional::multi_head_attention_forward(
      query, key, value,
      functional::MultiheadAttentionForwardFuncOptions(
          options.embed_dim(), options.num_heads(), in_proj_weight,
          in_proj_bias, bias_k, bias_v, options.add_zero_attn(),
          options.dropout(), out_proj->weight, out_proj->bias)
          .training(is_training())
          .key_padding_mask(key_padding_mask)
          .need_weights(need_weights)
          .attn_mask(attn_mask)
          .use_separate_proj_weight(!_qkv_same_embed_dim)
          .q_proj_weight(q_proj_weight)
          .k_proj_weight(k_proj_weight)
          .v_proj_weight(v_proj_weight)
          .average_attn_weights(average_attn_weights)
          .is_causal(is_causal)
          .batch_first(options.batch_first()));
}

}  // namespace sy::nn
