#include "frontend/nn/modules/transformer_coder.h"

namespace sy::nn {

namespace {

template <class Layer>
ModuleList copies(const char* name, const char* option, const Layer& layer,
                  int64_t count) {
  SY_CHECK(!layer.is_empty(), Value,
           "[{}] {}: expected a layer, got an empty holder", name, option);
  detail::check_at_least(1, name, "num_layers", count);
  ModuleList list;
  for (int64_t i = 0; i < count; ++i) {
    list->push_back(std::static_pointer_cast<typename Layer::ContainedType>(
        layer->clone()));
  }
  return list;
}

// The members layers and norm, in place of those that are there.
void put(Module& m, ModuleList& layers, ModuleList made, AnyModule& norm,
         const AnyModule& new_norm) {
  if (!layers.is_empty()) m.unregister_module("layers");
  if (!norm.is_empty()) m.unregister_module("norm");
  layers = m.register_module("layers", std::move(made));
  norm = new_norm;
  if (!norm.is_empty()) m.register_module("norm", norm.ptr());
}

template <class LayerImpl>
void reset_parameters_of(const ModuleList& layers, const AnyModule& norm) {
  for (size_t i = 0; i < layers->size(); ++i) {
    layers->at<LayerImpl>(i).reset_parameters();
  }
  if (norm.is_empty()) return;
  if (auto* const m = norm.ptr()->as<LayerNorm>()) m->reset_parameters();
}

}  // namespace

TransformerEncoderImpl::TransformerEncoderImpl(
    TransformerEncoderOptions options)
    : options(std::move(options)) {
  reset();
}

void TransformerEncoderImpl::reset() {
  put(*this, layers,
      copies("TransformerEncoder", "encoder_layer", options.encoder_layer(),
             options.num_layers()),
      norm, options.norm());
}

void TransformerEncoderImpl::reset_parameters() {
  reset_parameters_of<TransformerEncoderLayerImpl>(layers, norm);
}

Tensor TransformerEncoderImpl::forward(const Tensor& src,
                                       const Tensor& src_mask,
                                       const Tensor& src_key_padding_mask,
                                       bool is_causal) {
  Tensor x = src;
  for (size_t i = 0; i < layers->size(); ++i) {
    x = call_module(layers->at<TransformerEncoderLayerImpl>(i), x, src_mask,
                    src_key_padding_mask, is_causal);
  }
  return norm.is_empty() ? x : norm.forward(x);
}

TransformerDecoderImpl::TransformerDecoderImpl(
    TransformerDecoderOptions options)
    : options(std::move(options)) {
  reset();
}

void TransformerDecoderImpl::reset() {
  put(*this, layers,
      copies("TransformerDecoder", "decoder_layer", options.decoder_layer(),
             options.num_layers()),
      norm, options.norm());
}

void TransformerDecoderImpl::reset_parameters() {
  reset_parameters_of<TransformerDecoderLayerImpl>(layers, norm);
}

Tensor TransformerDecoderImpl::forward(const Tensor& tgt, const Tensor& memory,
                                       const Tensor& tgt_mask,
                                       const Tensor& memory_mask,
                                       const Tensor& tgt_key_padding_mask,
                                       const Tensor& memory_key_padding_mask,
                                       bool tgt_is_causal,
                                       bool memory_is_causal) {
  Tensor x = tgt;
  for (size_t i = 0; i < layers->size(); ++i) {
    x = call_module(layers->at<TransformerDecoderLayerImpl>(i), x, memory,
                    tgt_mask, memory_mask, tgt_key_padding_mask,
                    memory_key_padding_mask, tgt_is_causal, memory_is_causal);
  }
  return norm.is_empty() ? x : norm.forward(x);
}

}  // namespace sy::nn
