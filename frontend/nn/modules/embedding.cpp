#include "frontend/nn/modules/embedding.h"

#include "aten/ops/factory.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/nn/functional/embedding.h"
#include "frontend/nn/init.h"
#include "frontend/nn/modules/weight_and_bias.h"
#include "frontend/nn/python_text.h"

namespace sy::nn {

namespace F = functional;
using detail::check_at_least;
using detail::python_float;

namespace {

// Checks the options that both kinds have, and counts padding_idx from the
// front.
template <class Options>
void check(std::string_view module, Options* o) {
  check_at_least(0, module, "num_embeddings", o->num_embeddings());
  check_at_least(0, module, "embedding_dim", o->embedding_dim());
  const int64_t rows = o->num_embeddings();
  if (o->padding_idx().has_value()) {
    int64_t& row = *o->padding_idx();
    SY_CHECK(-rows <= row && row < rows, Value,
             "[{}] padding_idx: expected one of {} rows, got {}", module, rows,
             row);
    if (row < 0) row += rows;
  }
  const Tensor& w = o->_weight();
  SY_CHECK(!w.defined() || w.sizes() == IntArrayRef({rows, o->embedding_dim()}),
           Value, "[{}] _weight: expected sizes [{}, {}], got {}", module, rows,
           o->embedding_dim(), w.sizes());
}

template <class M>
void make_weight(M* m) {
  const auto& o = m->options;
  const bool given = o._weight().defined();
  m->weight = m->set_parameter(
      "weight", given ? o._weight().detach()
                      : sy::empty({o.num_embeddings(), o.embedding_dim()}));
  if (!given) m->reset_parameters();
}

void fill(const Tensor& weight, const std::optional<int64_t>& padding_idx) {
  init::normal_(weight);
  NoGradGuard no_grad;
  if (padding_idx.has_value()) weight.select(0, *padding_idx).zero_();
}

void check_matrix(std::string_view module, const Tensor& embeddings) {
  SY_CHECK(embeddings.dim() == 2, Value,
           "[{}::from_pretrained] embeddings: expected 2 dimensions, got {}",
           module, embeddings.dim());
}

}  // namespace

EmbeddingImpl::EmbeddingImpl(EmbeddingOptions o) : options(std::move(o)) {
  reset();
}

void EmbeddingImpl::reset() {
  check("Embedding", &options);
  make_weight(this);
}

void EmbeddingImpl::reset_parameters() { fill(weight, options.padding_idx()); }

Tensor EmbeddingImpl::forward(const Tensor& indices) {
  return F::embedding(indices, weight,
                      F::EmbeddingFuncOptions()
                          .padding_idx(options.padding_idx())
                          .max_norm(options.max_norm())
                          .norm_type(options.norm_type())
                          .scale_grad_by_freq(options.scale_grad_by_freq())
                          .sparse(options.sparse()));
}

std::string EmbeddingImpl::extra_repr() const {
  const auto& o = options;
  std::string text = str("{}, {}", o.num_embeddings(), o.embedding_dim());
  if (o.padding_idx()) text += str(", padding_idx={}", *o.padding_idx());
  if (o.max_norm()) text += ", max_norm=" + python_float(o.max_norm());
  if (o.norm_type() != 2) text += ", norm_type=" + python_float(o.norm_type());
  if (o.scale_grad_by_freq()) text += ", scale_grad_by_freq=True";
  if (o.sparse()) text += ", sparse=True";
  return text;
}

Embedding Embedding::from_pretrained(const Tensor& embeddings,
                                     const EmbeddingFromPretrainedOptions& o) {
  check_matrix("Embedding", embeddings);
  Embedding made(EmbeddingOptions(embeddings.size(0), embeddings.size(1))
                     ._weight(embeddings)
                     .padding_idx(o.padding_idx())
                     .max_norm(o.max_norm())
                     .norm_type(o.norm_type())
                     .scale_grad_by_freq(o.scale_grad_by_freq())
                     .sparse(o.sparse()));
  made->weight.requires_grad_(!o.freeze());
  return made;
}

EmbeddingBagImpl::EmbeddingBagImpl(EmbeddingBagOptions o)
    : options(std::move(o)) {
  reset();
}

void EmbeddingBagImpl::reset() {
  check("EmbeddingBag", &options);
  make_weight(this);
}

void EmbeddingBagImpl::reset_parameters() {
  fill(weight, options.padding_idx());
}

Tensor EmbeddingBagImpl::forward(const Tensor& input, const Tensor& offsets,
                                 const Tensor& per_sample_weights) {
  return F::embedding_bag(
      input, weight,
      F::EmbeddingBagFuncOptions()
          .offsets(offsets)
          .max_norm(options.max_norm())
          .norm_type(options.norm_type())
          .scale_grad_by_freq(options.scale_grad_by_freq())
          .mode(options.mode())
          .sparse(options.sparse())
          .per_sample_weights(per_sample_weights)
          .include_last_offset(options.include_last_offset())
          .padding_idx(options.padding_idx()));
}

std::string EmbeddingBagImpl::extra_repr() const {
  const auto& o = options;
  std::string text = str("{}, {}", o.num_embeddings(), o.embedding_dim());
  if (o.max_norm()) text += ", max_norm=" + python_float(o.max_norm());
  if (o.norm_type() != 2) text += ", norm_type=" + python_float(o.norm_type());
  if (o.scale_grad_by_freq()) text += ", scale_grad_by_freq=True";
  text += str(", mode='{}'", o.mode().name());
  if (o.padding_idx()) text += str(", padding_idx={}", *o.padding_idx());
  return text;
}

EmbeddingBag EmbeddingBag::from_pretrained(
    const Tensor& embeddings, const EmbeddingBagFromPretrainedOptions& o) {
  check_matrix("EmbeddingBag", embeddings);
  EmbeddingBag made(EmbeddingBagOptions(embeddings.size(0), embeddings.size(1))
                        ._weight(embeddings)
                        .max_norm(o.max_norm())
                        .norm_type(o.norm_type())
                        .scale_grad_by_freq(o.scale_grad_by_freq())
                        .mode(o.mode())
                        .sparse(o.sparse())
                        .include_last_offset(o.include_last_offset())
                        .padding_idx(o.padding_idx()));
  made->weight.requires_grad_(!o.freeze());
  return made;
}

}  // namespace sy::nn
