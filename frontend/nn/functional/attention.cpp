#include "frontend/nn/functional/attention.h"

#include <limits>
#include <vector>

#include "aten/operators.h"
#include "aten/ops/attention.h"
#include "aten/ops/factory.h"
#include "aten/ops/padding.h"
#include "aten/ops/shape.h"
#include "frontend/nn/functional/if_defined.h"
#include "frontend/nn/functional/linear.h"

namespace sy::nn::functional {

namespace {

using Options = MultiheadAttentionForwardFuncOptions;

constexpr const char* kOp = "multi_head_attention_forward";

void check_size(const char* name, const Tensor& t, IntArrayRef sizes) {
  SY_CHECK(t.sizes() == sizes, Value, "[{}] {}: expected sizes {}, got {}", kOp,
           name, sizes, describe(t));
}

struct Triple {
  Tensor q, k, v;
};

Tensor part(const Tensor& t, int64_t from, int64_t count) {
  return t.defined() ? t.narrow(0, from, count) : t;
}

// One call of the function, with a batch.
class Attention {
 public:
  Attention(const Tensor& query, const Tensor& key, const Tensor& value,
            const Options& o)
      : o_(o), batched_(query.dim() == 3), like_(query) {
    check(query, key, value);
    batch_ = batched_ ? query.size(batch_dim()) : 1;
    queries_ = query.size(batched_ ? length_dim() : 0);
    keys_ = key.size(batched_ ? length_dim() : 0);
    if (o.static_k().defined()) keys_ = o.static_k().size(1);
  }

  std::tuple<Tensor, Tensor> run(const Tensor& query, const Tensor& key,
                                 const Tensor& value) const {
    Triple t = project(query, key, value);
    int64_t added = 0;  // keys
    if (o_.bias_k().defined()) {
      t.k = with_row(t.k, o_.bias_k());
      t.v = with_row(t.v, o_.bias_v());
      ++added;
    }
    const Tensor q = heads(t.q);
    Tensor k =
        o_.static_k().defined() ? static_heads(o_.static_k()) : heads(t.k);
    Tensor v =
        o_.static_v().defined() ? static_heads(o_.static_v()) : heads(t.v);
    if (o_.add_zero_attn()) {
      k = sy::constant_pad_nd(k, {0, 0, 0, 1}, 0);
      v = sy::constant_pad_nd(v, {0, 0, 0, 1}, 0);
      ++added;
    }
    const Tensor mask = merged_mask(added);
    const bool causal = o_.is_causal() && !mask.defined();
    const double p = o_.training() ? o_.dropout_p() : 0;
    Tensor out, weights;
    if (o_.need_weights()) {
      std::tie(out, weights) = sy::_scaled_dot_product_attention_math(
          q, k, v, detail::if_defined(mask), p, causal);
      if (o_.average_attn_weights()) weights = weights.mean({1});
      if (!batched_) weights = weights.squeeze(0);
    } else {
      out = sy::scaled_dot_product_attention(q, k, v, detail::if_defined(mask),
                                             p, causal);
    }
    out = (o_.batch_first() ? out.transpose(1, 2) : out.permute({2, 0, 1, 3}))
              .flatten(2);
    out = linear(out, o_.out_proj_weight(), o_.out_proj_bias());
    return {batched_ ? out : out.squeeze(batch_dim()), weights};
  }

 private:
  int64_t batch_dim() const { return o_.batch_first() ? 0 : 1; }
  int64_t length_dim() const { return 1 - batch_dim(); }

  void check(const Tensor& query, const Tensor& key,
             const Tensor& value) const {
    const int64_t embed_dim = o_.embed_dim_to_check(), heads = o_.num_heads();
    SY_CHECK(heads > 0 && embed_dim % heads == 0, Value,
             "[{}] num_heads: expected a divisor of embed_dim, {}, got {}", kOp,
             embed_dim, heads);
    SY_CHECK(batched_ || query.dim() == 2, Value,
             "[{}] query: expected 3 dims, or 2 without a batch, got {}", kOp,
             describe(query));
    SY_CHECK(query.size(-1) == embed_dim, Value,
             "[{}] query: expected {} features (embed_dim), got {}", kOp,
             embed_dim, describe(query));
    SY_CHECK(
        key.dim() == query.dim() &&
            (!batched_ || key.size(batch_dim()) == query.size(batch_dim())),
        Value, "[{}] key: expected the dims and batch of query, {}, got {}",
        kOp, query.sizes(), describe(key));
    SY_CHECK(value.dim() == key.dim() &&
                 value.sizes().slice(0, value.sizes().size() - 1) ==
                     key.sizes().slice(0, key.sizes().size() - 1),
             Value,
             "[{}] value: expected the batch and length of key, {}, got {}",
             kOp, key.sizes(), describe(value));
    SY_CHECK(o_.bias_k().defined() == o_.bias_v().defined(), Value,
             "[{}] bias_v: expected one where there is a bias_k, and none "
             "elsewhere",
             kOp);
    SY_CHECK(!o_.bias_k().defined() ||
                 (!o_.static_k().defined() && !o_.static_v().defined()),
             Value,
             "[{}] static_k, static_v: expected none where there is a bias_k",
             kOp);
  }

  // Projections with a batch.
  Triple project(const Tensor& query, const Tensor& key,
                 const Tensor& value) const {
    const bool shared = key.is_same(value);
    const bool self = shared && query.is_same(key);
    const auto in = [&](const Tensor& t, const Tensor& w, const Tensor& b) {
      return linear(batched_ ? t : t.unsqueeze(batch_dim()), w, b);
    };
    const Tensor &w = o_.in_proj_weight(), &b = o_.in_proj_bias();
    const int64_t e = o_.embed_dim_to_check();
    if (o_.use_separate_proj_weight()) {
      return {in(query, o_.q_proj_weight(), part(b, 0, e)),
              in(key, o_.k_proj_weight(), part(b, e, e)),
              in(value, o_.v_proj_weight(), part(b, 2 * e, e))};
    }
    check_size("in_proj_weight", w, {3 * e, e});
    if (self) {
      const std::vector<Tensor> all = in(query, w, b).chunk(3, -1);
      return {all[0], all[1], all[2]};
    }
    const Tensor q = in(query, part(w, 0, e), part(b, 0, e));
    if (shared) {
      const std::vector<Tensor> both =
          in(key, part(w, e, 2 * e), part(b, e, 2 * e)).chunk(2, -1);
      return {q, both[0], both[1]};
    }
    return {q, in(key, part(w, e, e), part(b, e, e)),
            in(value, part(w, 2 * e, e), part(b, 2 * e, e))};
  }

  // One more row, the same for the whole batch.
  Tensor with_row(const Tensor& t, const Tensor& row) const {
    std::vector<int64_t> sizes(t.sizes().begin(), t.sizes().end());
    sizes[static_cast<size_t>(length_dim())] = 1;
    const Tensor parts[] = {t, row.expand(sizes)};
    return sy::cat(parts, length_dim());
  }

  // batch x heads x length x features
  Tensor heads(const Tensor& t) const {
    const Tensor split = t.unflatten(-1, {o_.num_heads(), -1});
    return o_.batch_first() ? split.transpose(1, 2)
                            : split.permute({1, 2, 0, 3});
  }
  Tensor static_heads(const Tensor& t) const {
    check_size(t.is_same(o_.static_k()) ? "static_k" : "static_v", t,
               {batch_ * o_.num_heads(), keys_,
                o_.embed_dim_to_check() / o_.num_heads()});
    return t.unflatten(0, {batch_, o_.num_heads()});
  }

  // As scaled_dot_product_attention takes it; undefined if nothing but, maybe,
  // is_causal masks. `added` keys at the end are not masked.
  Tensor merged_mask(int64_t added) const {
    Tensor mask = attention_mask();
    if (o_.key_padding_mask().defined()) mask = merged(mask, padding_mask());
    if (o_.is_causal() && (mask.defined() || added > 0)) {
      mask = merged(
          mask,
          sy::ones({queries_, keys_}, like_.options().dtype(kBool)).triu(1));
    }
    if (!mask.defined()) return mask;
    if (added > 0) mask = sy::constant_pad_nd(mask, {0, added}, 0);
    return mask.scalar_type() == kBool ? mask.logical_not() : mask;
  }

  Tensor attention_mask() const {
    const Tensor& mask = o_.attn_mask();
    if (!mask.defined()) return mask;
    if (mask.dim() == 3) {
      check_size("attn_mask", mask, {batch_ * o_.num_heads(), queries_, keys_});
      return typed("attn_mask", mask.unflatten(0, {batch_, o_.num_heads()}));
    }
    check_size("attn_mask", mask, {queries_, keys_});
    return typed("attn_mask", mask);
  }

  Tensor padding_mask() const {
    const Tensor& mask = o_.key_padding_mask();
    if (batched_) {
      check_size("key_padding_mask", mask, {batch_, keys_});
    } else {
      check_size("key_padding_mask", mask, {keys_});
    }
    return typed("key_padding_mask", mask.reshape({batch_, 1, 1, keys_}));
  }

  Tensor typed(const char* name, const Tensor& mask) const {
    SY_CHECK(mask.scalar_type() == kBool || mask.is_floating_point(), Type,
             "[{}] {}: expected bool or a floating dtype, got {}", kOp, name,
             describe(mask));
    return mask.scalar_type() == kBool ? mask : mask.to(like_.scalar_type());
  }

  Tensor merged(const Tensor& a, const Tensor& b) const {
    if (!a.defined()) return b;
    if (a.scalar_type() == kBool && b.scalar_type() == kBool) {
      return a.logical_or(b);
    }
    return added_to_scores(a) + added_to_scores(b);
  }

  Tensor added_to_scores(const Tensor& mask) const {
    if (mask.scalar_type() != kBool) return mask;
    return sy::zeros(mask.sizes(), like_.options())
        .masked_fill(mask, -std::numeric_limits<double>::infinity());
  }

  const Options& o_;
  const bool batched_;
  const Tensor& like_;
  int64_t batch_ = 0, queries_ = 0, keys_ = 0;
};

}  // namespace

std::tuple<Tensor, Tensor> multi_head_attention_forward(
    const Tensor& query, const Tensor& key, const Tensor& value,
    const MultiheadAttentionForwardFuncOptions& options) {
  return Attention(query, key, value, options).run(query, key, value);
}

}  // namespace sy::nn::functional
