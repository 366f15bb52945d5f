#include "frontend/nn/modules/transformer.h"

#include <limits>
#include <utility>

#include "aten/ops/factory.h"
#include "frontend/nn/init.h"

namespace sy::nn {

TransformerImpl::TransformerImpl(TransformerOptions options)
    : options(std::move(options)) {
  reset();
}

void TransformerImpl::reset() {
  const TransformerOptions& o = options;
  const auto layer = TransformerEncoderLayerOptions(o.d_model(), o.nhead())
                         .dim_feedforward(o.dim_feedforward())
                         .dropout(o.dropout())
                         .activation(o.activation())
                         .layer_norm_eps(o.layer_norm_eps())
                         .batch_first(o.batch_first())
                         .norm_first(o.norm_first())
                         .bias(o.bias());
  const auto put = [&](AnyModule& member, const char* name, AnyModule made) {
    if (!member.is_empty()) unregister_module(name);
    member = std::move(made);
    register_module(name, member.ptr());
  };
  put(encoder, "encoder",
      o.custom_encoder().is_empty()
          ? AnyModule(TransformerEncoder(
                TransformerEncoderOptions(layer, o.num_encoder_layers())
                    .norm(AnyModule(detail::layer_norm_like(layer)))))
          : o.custom_encoder());
  put(decoder, "decoder",
      o.custom_decoder().is_empty()
          ? AnyModule(TransformerDecoder(
                TransformerDecoderOptions(layer, o.num_decoder_layers())
                    .norm(AnyModule(detail::layer_norm_like(layer)))))
          : o.custom_decoder());
  reset_parameters();
}

void TransformerImpl::reset_parameters() {
  for (const Tensor& p : parameters()) {
    if (p.dim() > 1) init::xavier_uniform_(p);
  }
}

Tensor TransformerImpl::forward(const Tensor& src, const Tensor& tgt,
                                const Tensor& src_mask, const Tensor& tgt_mask,
                                const Tensor& memory_mask,
                                const Tensor& src_key_padding_mask,
                                const Tensor& tgt_key_padding_mask,
                                const Tensor& memory_key_padding_mask,
                                bool src_is_causal, bool tgt_is_causal,
                                bool memory_is_causal) {
  const auto check = [&](const char* name, const Tensor& t) {
    SY_CHECK((t.dim() == 2 || t.dim() == 3) && t.size(-1) == options.d_model(),
             Value,
             "[Transformer] {}: expected 3 dims, or 2 without a batch, the "
             "last of {} (d_model), got {}",
             name, options.d_model(), describe(t));
  };
  check("src", src);
  check("tgt", tgt);
  const int64_t batch_dim = options.batch_first() ? 0 : 1;
  SY_CHECK(tgt.dim() == src.dim() &&
               (src.dim() == 2 || tgt.size(batch_dim) == src.size(batch_dim)),
           Value, "[Transformer] tgt: expected the batch of src, {}, got {}",
           src.sizes(), describe(tgt));

  const Tensor memory =
      src_is_causal ? encoder.forward(src, src_mask, src_key_padding_mask, true)
                    : encoder.forward(src, src_mask, src_key_padding_mask);
  if (tgt_is_causal || memory_is_causal) {
    return decoder.forward(tgt, memory, tgt_mask, memory_mask,
                           tgt_key_padding_mask, memory_key_padding_mask,
                           tgt_is_causal, memory_is_causal);
  }
  return decoder.forward(tgt, memory, tgt_mask, memory_mask,
                         tgt_key_padding_mask, memory_key_padding_mask);
}

Tensor TransformerImpl::generate_square_subsequent_mask(int64_t sz) {
  detail::check_at_least(0, "generate_square_subsequent_mask", "sz", sz);
  return sy::full({sz, sz}, -std::numeric_limits<double>::infinity(),
                  default_dtype())
      .triu(1);
}

}  // namespace sy::nn
