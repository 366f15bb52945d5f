#include "frontend/nn/modules/transformer_layer.h"

#include <utility>

#include "aten/operators.h"
#include "aten/ops/activation.h"

namespace sy::nn {

namespace detail {

LayerNorm layer_norm_like(const TransformerEncoderLayerOptions& options) {
  LayerNorm norm(
      LayerNormOptions({options.d_model()}).eps(options.layer_norm_eps()));
  if (!options.bias()) {
    norm->bias = norm->set_parameter("bias", Tensor());
  }
  return norm;
}

TransformerLayerBase::TransformerLayerBase(
    TransformerEncoderLayerOptions options)
    : options(std::move(options)) {}

MultiheadAttention TransformerLayerBase::make_attention() const {
  return MultiheadAttention(
      MultiheadAttentionOptions(options.d_model(), options.nhead())
          .dropout(options.dropout())
          .bias(options.bias())
          .batch_first(options.batch_first()));
}

void TransformerLayerBase::reset_feed_forward() {
  const int64_t width = options.d_model(), inner = options.dim_feedforward();
  check_at_least(1, "TransformerLayer", "dim_feedforward", inner);
  const auto* const f =
      std::get_if<std::function<Tensor(const Tensor&)>>(&options.activation());
  SY_CHECK(f == nullptr || *f != nullptr, Value,
           "[TransformerLayer] activation: expected a function, got an empty "
           "one");
  put(linear1, "linear1",
      Linear(LinearOptions(width, inner).bias(options.bias())));
  put(dropout, "dropout", Dropout(options.dropout()));
  put(linear2, "linear2",
      Linear(LinearOptions(inner, width).bias(options.bias())));
}

Tensor TransformerLayerBase::feed_forward(const Tensor& x) {
  Tensor inner = linear1(x);
  if (std::holds_alternative<enumtype::kReLU>(options.activation())) {
    inner = sy::relu(inner);
  } else if (std::holds_alternative<enumtype::kGELU>(options.activation())) {
    inner = sy::gelu(inner);
  } else {
    inner = std::get<std::function<Tensor(const Tensor&)>>(
        options.activation())(inner);
  }
  return linear2(dropout(inner));
}

}  // namespace detail

TransformerEncoderLayerImpl::TransformerEncoderLayerImpl(
    TransformerEncoderLayerOptions options)
    : TransformerLayerBase(std::move(options)) {
  reset();
}

void TransformerEncoderLayerImpl::reset() {
  put(self_attn, "self_attn", make_attention());
  reset_feed_forward();
  put(norm1, "norm1", make_norm());
  put(norm2, "norm2", make_norm());
  put(dropout1, "dropout1", Dropout(options.dropout()));
  put(dropout2, "dropout2", Dropout(options.dropout()));
}

void TransformerEncoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  linear1->reset_parameters();
  linear2->reset_parameters();
  norm1->reset_parameters();
  norm2->reset_parameters();
}

Tensor TransformerEncoderLayerImpl::forward(const Tensor& src,
                                            const Tensor& src_mask,
                                            const Tensor& src_key_padding_mask,
                                            bool is_causal) {
  const auto attend = [&](const Tensor& x) {
    return dropout1(
        std::get<0>(self_attn(x, x, x, src_key_padding_mask,
                              /*need_weights=*/false, src_mask,
                              /*average_attn_weights=*/true, is_causal)));
  };
  if (options.norm_first()) {
    const Tensor x = src + attend(norm1(src));
    return x + dropout2(feed_forward(norm2(x)));
  }
  const Tensor x = norm1(src + attend(src));
  return norm2(x + dropout2(feed_forward(x)));
}

TransformerDecoderLayerImpl::TransformerDecoderLayerImpl(
    TransformerDecoderLayerOptions options)
    : TransformerLayerBase(std::move(options)) {
  reset();
}

void TransformerDecoderLayerImpl::reset() {
  put(self_attn, "self_attn", make_attention());
  put(multihead_attn, "multihead_attn", make_attention());
  reset_feed_forward();
  put(norm1, "norm1", make_norm());
  put(norm2, "norm2", make_norm());
  put(norm3, "norm3", make_norm());
  put(dropout1, "dropout1", Dropout(options.dropout()));
  put(dropout2, "dropout2", Dropout(options.dropout()));
  put(dropout3, "dropout3", Dropout(options.dropout()));
}

void TransformerDecoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  multihead_attn->_reset_parameters();
  linear1->reset_parameters();
  linear2->reset_parameters();
  norm1->reset_parameters();
  norm2->reset_parameters();
  norm3->reset_parameters();
}

Tensor TransformerDecoderLayerImpl::forward(
    Tensor tgt, const Tensor& memory, const Tensor& tgt_mask,
    const Tensor& memory_mask, const Tensor& tgt_key_padding_mask,
    const Tensor& memory_key_padding_mask, bool tgt_is_causal,
    bool memory_is_causal) {
  const auto attend = [&](const Tensor& x) {
    return dropout1(
        std::get<0>(self_attn(x, x, x, tgt_key_padding_mask,
                              /*need_weights=*/false, tgt_mask,
                              /*average_attn_weights=*/true, tgt_is_causal)));
  };
  const auto attend_memory = [&](const Tensor& x) {
    return dropout2(std::get<0>(multihead_attn(
        x, memory, memory, memory_key_padding_mask, /*need_weights=*/false,
        memory_mask, /*average_attn_weights=*/true, memory_is_causal)));
  };
  if (options.norm_first()) {
    tgt = tgt + attend(norm1(tgt));
    tgt = tgt + attend_memory(norm2(tgt));
    return tgt + dropout3(feed_forward(norm3(tgt)));
  }
  tgt = norm1(tgt + attend(tgt));
  tgt = norm2(tgt + attend_memory(tgt));
  return norm3(tgt + dropout3(feed_forward(tgt)));
}

}  // namespace sy::nn
