// Attention made of products and a softmax: for backends that have no kernels
// of their own for it. Narrow floats are computed in float32.

#include <cmath>
#include <limits>
#include <tuple>

#include "aten/engine/widened.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/attention_kernels.h"
#include "aten/ops/comparison.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "aten/ops/linalg.h"
#include "aten/ops/math.h"
#include "aten/ops/reduction.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"

namespace sy::composite {

namespace {

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

  // Of each head of key the sum over its heads of query.
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

// Where a query sees no key its row and its sum are 0.
std::tuple<Tensor, Tensor> attention_by_softmax(
    const Tensor& query, const Tensor& key, const Tensor& value, double,
    bool is_causal, const Optional& attn_mask, std::optional<double> scale) {
  const Attention a(query, key, value, scale);
  const Tensor scores = a.scores(is_causal, attn_mask);
  if (scores.size(3) == 0) {
    Dims sizes(query.sizes());
    sizes[3] = value.size(3);
    return {sy::zeros(IntArrayRef(sizes), query.options()),
            sy::zeros(query.sizes().slice(0, 3), scores.options())};
  }
  Tensor most = sy::amax(scores, {-1}, true);
  const Tensor blind = most.eq(-std::numeric_limits<double>::infinity());
  most = sy::where(blind, Scalar(0), most);
  const Tensor weights = sy::exp(scores - most);
  const Tensor sum = sy::where(blind, Scalar(1), weights.sum({-1}, true));
  const Tensor out = sy::matmul(weights, a.value) / sum;
  return {out.to(query.scalar_type()), (most + sy::log(sum)).squeeze(-1)};
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
