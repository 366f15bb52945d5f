#include "frontend/nn/functional/embedding.h"

#include "aten/ops/embedding_bag.h"
#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/nn/functional/if_defined.h"

namespace sy::nn::functional {

namespace {

void renormalize(const Tensor& weight, const Tensor& indices,
                 const std::optional<double>& max_norm, double norm_type) {
  if (!max_norm.has_value()) return;
  NoGradGuard no_grad;
  Tensor rows = weight.detach();
  sy::embedding_renorm_(rows, indices.contiguous(), *max_norm, norm_type);
}

}  // namespace

Tensor one_hot(const Tensor& tensor, int64_t num_classes) {
  return sy::one_hot(tensor, num_classes);
}

Tensor embedding(const Tensor& input, const Tensor& weight,
                 const EmbeddingFuncOptions& o) {
  int64_t padding = -1;
  if (o.padding_idx().has_value()) {
    const int64_t rows = weight.size(0);
    padding = *o.padding_idx();
    SY_CHECK(-rows <= padding && padding < rows, Value,
             "[embedding] padding_idx: expected one of {} rows, got {}", rows,
             padding);
    if (padding < 0) padding += rows;
  }
  renormalize(weight, input, o.max_norm(), o.norm_type());
  return sy::embedding(weight, input, padding, o.scale_grad_by_freq(),
                       o.sparse());
}

Tensor embedding_bag(const Tensor& input, const Tensor& weight,
                     const EmbeddingBagFuncOptions& o) {
  const Tensor& given = o.offsets();
  const Tensor& scale = o.per_sample_weights();
  SY_CHECK(input.dim() == 1 || input.dim() == 2, Value,
           "[embedding_bag] input: expected 1 or 2 dimensions, got {}",
           input.dim());
  SY_CHECK(given.defined() == (input.dim() == 1), Value,
           "[embedding_bag] offsets: expected {} for an input of {} "
           "dimensions, got {}",
           input.dim() == 1 ? "some" : "none", input.dim(),
           given.defined() ? "some" : "none");
  SY_CHECK(!given.defined() || given.dim() == 1, Value,
           "[embedding_bag] offsets: expected 1 dimension, got {}",
           given.dim());
  if (scale.defined()) {
    SY_CHECK(scale.sizes() == input.sizes(), Value,
             "[embedding_bag] per_sample_weights: expected the sizes {} of the "
             "input, got {}",
             input.sizes(), scale.sizes());
    SY_CHECK(o.mode() == kSum, Value,
             "[embedding_bag] per_sample_weights: expected none with the mode "
             "'{}', which is not 'sum'",
             o.mode().name());
  }
  SY_CHECK(o.mode() != kMax || !(o.scale_grad_by_freq() || o.sparse()), Value,
           "[embedding_bag] {}: expected false with the mode 'max', got true",
           o.sparse() ? "sparse" : "scale_grad_by_freq");
  Tensor offsets = given;
  if (input.dim() == 2) {
    const int64_t step = std::max<int64_t>(input.size(1), 1);
    offsets = sy::arange(0, input.size(0) * step, step,
                         TensorOptions().dtype(kLong).device(input.device()));
    if (input.size(1) == 0) offsets.zero_();
  }
  const Tensor indices = input.reshape({-1});
  renormalize(weight, indices, o.max_norm(), o.norm_type());
  return std::get<0>(sy::embedding_bag(
      weight, indices, offsets, o.scale_grad_by_freq(), o.mode().index(),
      o.sparse(),
      nn::detail::if_defined(scale.defined() ? scale.reshape({-1}) : scale),
      o.include_last_offset(), o.padding_idx()));
}

}  // namespace sy::nn::functional
