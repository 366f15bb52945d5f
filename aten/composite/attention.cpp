#include "aten/ops/attention.h"

#include <cmath>
#include <limits>
#include <tuple>

#include "aten/engine/geometry.h"
#include "aten/engine/guard.h"
#include "aten/engine/widened.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/attention_kernels.h"
#include "aten/ops/attention_ops.h"
#include "aten/ops/dropout.h"
#include "aten/ops/factory.h"
#include "aten/ops/linalg.h"
#include "aten/ops/math.h"
#include "aten/ops/reduction.h"
#include "aten/ops/softmax.h"
#include "c10/dispatch/thread_state.h"

namespace sy::composite {

namespace {

using OptionalTensor = std::optional<Tensor>;

constexpr const char* kOp = "scaled_dot_product_attention";

bool given(const OptionalTensor& t) { return t && t->defined(); }

void check(const Tensor& query, const Tensor& key, const Tensor& value,
           const OptionalTensor& mask, double dropout_p, bool is_causal) {
  SY_CHECK(query.is_floating_point(), Type,
           "[{}] query: expected a floating dtype, got {}", kOp,
           describe(query));
  const auto check_one = [&](const char* name, const Tensor& t) {
    SY_CHECK(t.dim() >= 2, Value, "[{}] {}: expected at least 2 dims, got {}",
             kOp, name, describe(t));
    SY_CHECK(t.dtype() == query.dtype(), Type,
             "[{}] {}: expected the dtype of query, {}, got {}", kOp, name,
             query.dtype(), describe(t));
  };
  check_one("query", query);
  check_one("key", key);
  check_one("value", value);
  SY_CHECK(key.size(-1) == query.size(-1), Value,
           "[{}] key: expected a last size of {}, got {}", kOp, query.size(-1),
           describe(key));
  SY_CHECK(value.size(-2) == key.size(-2), Value,
           "[{}] value: expected the length of key, {}, got {}", kOp,
           key.size(-2), describe(value));
  SY_CHECK(dropout_p >= 0 && dropout_p <= 1, Value,
           "[{}] dropout_p: expected a probability, got {}", kOp, dropout_p);
  if (!given(mask)) return;
  SY_CHECK(!is_causal, Value,
           "[{}] attn_mask: expected none where is_causal, got {}", kOp,
           describe(*mask));
  SY_CHECK(
      mask->dtype() == kBool || mask->dtype() == kFloat ||
          mask->dtype() == query.dtype(),
      Type,
      "[{}] attn_mask: expected bool, float32 or the dtype of query, got {}",
      kOp, describe(*mask));
}

// `t` with heads repeated until there are as many as in query.
Tensor with_heads(const char* name, const Tensor& t, const Tensor& query) {
  const int64_t heads = t.dim() >= 3 ? t.size(-3) : 1;
  const int64_t wanted = query.dim() >= 3 ? query.size(-3) : 1;
  SY_CHECK(heads > 0 && wanted % heads == 0, Value,
           "[{}] {}: expected a number of heads that divides that of query, "
           "{}, got {}",
           kOp, name, wanted, describe(t));
  if (heads == wanted) return t;
  Dims sizes(t.sizes());
  sizes[t.dim() - 3] = wanted;
  Dims split, repeated;
  for (int64_t d = 0; d < t.dim(); ++d) {
    split.push_back(t.size(d));
    repeated.push_back(t.size(d));
    if (d == t.dim() - 3) {
      split.push_back(1);
      repeated.push_back(wanted / heads);
    }
  }
  return t.reshape(split).expand(repeated).reshape(sizes);
}

// `t` with 4 dims, by dims of size 1 in front; as it is if it has more.
Tensor four_dims(Tensor t) {
  while (t.dim() < 4) t = t.unsqueeze(0);
  return t;
}

// Lays heads side by side in memory, as tiles give results and as the code
// after attention reads them.
Tensor heads_inside(const Tensor& t) {
  return t.transpose(-3, -2).contiguous().transpose(-3, -2);
}

// Whether tiles can do it, where there are any: no dropout, no gradient by the
// mask, batches alike.
bool suits_tiles(const Tensor& query, const Tensor& key, const Tensor& value,
                 const OptionalTensor& mask, double dropout_p,
                 bool enable_gqa) {
  if (dropout_p != 0 || query.dim() > 4 || key.dim() != query.dim() ||
      value.dim() != query.dim()) {
    return false;
  }
  for (int64_t d = 0; d < query.dim() - 2; ++d) {
    if (value.size(d) != key.size(d)) return false;
    if (key.size(d) == query.size(d)) continue;
    const bool heads = d == query.dim() - 3;
    if (!heads || !enable_gqa || key.size(d) == 0 ||
        query.size(d) % key.size(d) != 0) {
      return false;
    }
  }
  if (!given(mask)) return true;
  if (GradMode::is_enabled() && mask->requires_grad()) return false;
  Dims scores(query.sizes());
  scores[query.dim() - 1] = key.size(-2);
  return mask->dim() <= query.dim() &&
         geometry::is_expandable_to(mask->sizes(), scores);
}

}  // namespace

std::tuple<Tensor, Tensor> scaled_dot_product_attention_math(
    const Tensor& query, const Tensor& key, const Tensor& value,
    const OptionalTensor& attn_mask, double dropout_p, bool is_causal,
    const OptionalTensor& dropout_mask, std::optional<double> scale,
    bool enable_gqa) {
  check(query, key, value, attn_mask, dropout_p, is_causal);
  const Tensor k = enable_gqa ? with_heads("key", key, query) : key;
  const Tensor v = enable_gqa ? with_heads("value", value, query) : value;
  const double by =
      scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  // The root of the scale on both sides keeps products of halves in range.
  const double root = std::sqrt(std::abs(by));
  const Scalar left(by < 0 ? -root : root);
  Tensor scores = sy::matmul(query * left, k.transpose(-2, -1) * Scalar(root));
  OptionalTensor mask = attn_mask;
  if (is_causal) {
    mask =
        sy::ones({query.size(-2), key.size(-2)}, query.options().dtype(kBool))
            .tril();
  }
  if (given(mask)) {
    scores = mask->dtype() == kBool
                 ? scores.masked_fill(mask->logical_not(), Scalar(-HUGE_VAL))
                 : scores + *mask;
  }
  scores = scores.to(query.dtype());
  Tensor weights = sy::_safe_softmax(scores, -1);
  if (dropout_p > 0) {
    if (given(dropout_mask)) {
      const Tensor kept =
          weights.masked_fill(dropout_mask->logical_not(), Scalar(0));
      const double factor = dropout_p == 1 ? 0 : 1 / (1 - dropout_p);
      return {sy::matmul(kept, v * Scalar(factor)), kept};
    }
    weights = sy::dropout(weights, dropout_p, true);
  }
  return {sy::matmul(weights, v), weights};
}

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key,
                                    const Tensor& value,
                                    const OptionalTensor& attn_mask,
                                    double dropout_p, bool is_causal,
                                    std::optional<double> scale,
                                    bool enable_gqa) {
  check(query, key, value, attn_mask, dropout_p, is_causal);
  using Kernel = ops::_scaled_dot_product_flash_attention_for_cpu;
  const bool suits =
      suits_tiles(query, key, value, attn_mask, dropout_p, enable_gqa);
  if (!suits || !Kernel::entry().has_own_kernel(query.device().type())) {
    const Tensor out = std::get<0>(sy::_scaled_dot_product_attention_math(
        query, key, value, attn_mask, dropout_p, is_causal, std::nullopt, scale,
        enable_gqa));
    return suits && out.dim() > 2 ? heads_inside(out) : out;
  }
  Tensor out = std::get<0>(sy::_scaled_dot_product_flash_attention_for_cpu(
      four_dims(query), four_dims(key), four_dims(value), 0, is_causal,
      attn_mask, scale));
  for (int64_t d = query.dim(); d < 4; ++d) out = out.squeeze(0);
  return out;
}

std::tuple<Tensor, Tensor> native_multi_head_attention(
    const Tensor& query, const Tensor& key, const Tensor& value,
    int64_t embed_dim, int64_t num_head, const Tensor& qkv_weight,
    const Tensor& qkv_bias, const Tensor& proj_weight, const Tensor& proj_bias,
    const OptionalTensor& mask, bool need_weights, bool average_attn_weights,
    std::optional<int64_t> mask_type) {
  constexpr const char* kName = "_native_multi_head_attention";
  SY_CHECK(num_head > 0 && embed_dim > 0 && embed_dim % num_head == 0, Value,
           "[{}] num_head: expected a divisor of embed_dim, {}, got {}", kName,
           embed_dim, num_head);
  const auto check_input = [&](const char* name, const Tensor& t) {
    SY_CHECK(t.dim() == 3 && t.size(2) == embed_dim, Value,
             "[{}] {}: expected batch x length x {}, got {}", kName, name,
             embed_dim, describe(t));
    SY_CHECK(t.size(0) == query.size(0), Value,
             "[{}] {}: expected the batch of query, got {}", kName, name,
             describe(t));
  };
  check_input("query", query);
  check_input("key", key);
  check_input("value", value);
  SY_CHECK(key.size(1) == value.size(1), Value,
           "[{}] value: expected the length of key, got {}", kName,
           describe(value));
  SY_CHECK(qkv_weight.dim() == 2 && qkv_weight.size(0) == 3 * embed_dim, Value,
           "[{}] qkv_weight: expected {} rows, got {}", kName, 3 * embed_dim,
           describe(qkv_weight));
  SY_CHECK(qkv_bias.dim() == 1 && qkv_bias.size(0) == 3 * embed_dim, Value,
           "[{}] qkv_bias: expected {} elements, got {}", kName, 3 * embed_dim,
           describe(qkv_bias));
  const int64_t width = embed_dim / num_head;
  const auto heads = [&](const Tensor& t, int64_t part) {
    const Tensor p =
        sy::linear(t, qkv_weight.narrow(0, part * embed_dim, embed_dim),
                   qkv_bias.narrow(0, part * embed_dim, embed_dim));
    return p.reshape({t.size(0), t.size(1), num_head, width}).transpose(1, 2);
  };
  const Tensor q =
      heads(query, 0) * Scalar(1 / std::sqrt(static_cast<double>(width)));
  const Tensor k = heads(key, 1), v = heads(value, 2);
  const Tensor scores = sy::matmul(q, k.transpose(2, 3));
  Tensor weights;
  if (given(mask) && mask_type.value_or(2) == 2 && mask->dim() == 2) {
    // The mask is that of all batches and heads.
    weights = sy::_masked_softmax(scores, *mask, 3, 0);
  } else if (given(mask)) {
    weights = sy::_masked_softmax(scores, *mask, 3, mask_type);
  } else {
    weights = sy::_safe_softmax(scores, 3);
  }
  const Tensor joined = sy::matmul(weights, v)
                            .transpose(1, 2)
                            .reshape({query.size(0), query.size(1), embed_dim});
  const Tensor out = sy::linear(joined, proj_weight, proj_bias);
  if (!need_weights) return {out, Tensor()};
  return {out, average_attn_weights ? sy::mean(weights, 1) : weights};
}

namespace {

// Attention made of products and a softmax: for backends that have no kernels
// of their own for it. Narrow floats are computed in float32.

using Optional = std::optional<Tensor>;

struct Attention {
  Tensor query, key, value;  // as many heads of each
  int64_t repeats;           // heads of query for one of key
  double scale;

  Attention(const Tensor& q, const Tensor& k, const Tensor& v,
            std::optional<double> given)
      : query(widened(q)),
        repeats(q.size(1) / k.size(1)),
        scale(given.value_or(1 / std::sqrt(static_cast<double>(q.size(3))))) {
    key = repeated(widened(k));
    value = repeated(widened(v));
  }

  Tensor scores(bool is_causal, const Optional& mask) const {
    const Scalar hidden(-std::numeric_limits<double>::infinity());
    Tensor s = sy::matmul(query, key.mT()) * scale;
    if (is_causal) {
      const Tensor seen =
          sy::ones({query.size(2), key.size(2)}, s.options().dtype(kBool));
      s = sy::where(seen.tril(), s, hidden);
    }
    if (!mask || !mask->defined()) return s;
    return mask->scalar_type() == kBool ? sy::where(*mask, s, hidden)
                                        : s + mask->to(s.scalar_type());
  }

  // The sum over the heads of query that each head of key has.
  Tensor summed(const Tensor& t, const Tensor& like) const {
    const Tensor groups = t.reshape(
        {t.size(0), t.size(1) / repeats, repeats, t.size(2), t.size(3)});
    return groups.sum({2}).to(like.scalar_type());
  }

 private:
  Tensor repeated(const Tensor& t) const {
    if (repeats == 1) return t;
    return t.unsqueeze(2)
        .expand({t.size(0), t.size(1), repeats, t.size(2), t.size(3)})
        .reshape({t.size(0), t.size(1) * repeats, t.size(2), t.size(3)});
  }
};

}  // namespace

// The row and the logsumexp of a query that sees no key are 0.
std::tuple<Tensor, Tensor> attention_by_softmax(
    const Tensor& query, const Tensor& key, const Tensor& value, double,
    bool is_causal, const Optional& attn_mask, std::optional<double> scale) {
  const Attention a(query, key, value, scale);
  const Tensor scores = a.scores(is_causal, attn_mask);
  if (scores.size(3) == 0) {
    Dims sizes(query.sizes());
    sizes[3] = value.size(3);
    return {heads_inside(sy::zeros(IntArrayRef(sizes), query.options())),
            sy::zeros(query.sizes().slice(0, 3), scores.options())};
  }
  Tensor most = sy::amax(scores, {-1}, true);
  const Tensor blind = most.eq(-std::numeric_limits<double>::infinity());
  most = sy::where(blind, Scalar(0), most);
  const Tensor weights = sy::exp(scores - most);
  const Tensor sum = sy::where(blind, Scalar(1), weights.sum({-1}, true));
  const Tensor out = sy::matmul(weights, a.value) / sum;
  return {heads_inside(out.to(query.scalar_type())),
          (most + sy::log(sum)).squeeze(-1)};
}

std::tuple<Tensor, Tensor, Tensor> attention_backward_by_softmax(
    const Tensor& grad_out, const Tensor& query, const Tensor& key,
    const Tensor& value, const Tensor& out, const Tensor& logsumexp, double,
    bool is_causal, const Optional& attn_mask, std::optional<double> scale) {
  const Attention a(query, key, value, scale);
  const Tensor weights =
      sy::exp(a.scores(is_causal, attn_mask) - logsumexp.unsqueeze(-1));
  const Tensor g = widened(grad_out);
  const Tensor own = (g * widened(out)).sum({-1}, true);
  const Tensor by_scores =
      weights * (sy::matmul(g, a.value.mT()) - own) * a.scale;
  return {sy::matmul(by_scores, a.key).to(query.scalar_type()),
          a.summed(sy::matmul(by_scores.mT(), a.query), key),
          a.summed(sy::matmul(weights.mT(), g), value)};
}

}  // namespace sy::composite
