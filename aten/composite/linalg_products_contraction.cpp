#include "aten/composite/linalg_products_contraction.h"

#include <initializer_list>

#include "aten/engine/geometry.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/linalg.h"

namespace sy::composite {

namespace {

Tensor summed(const Tensor& t, IntArrayRef dims) {
  return dims.empty() ? t : t.sum(dims, true, t.dtype());
}

int64_t count(const Tensor& t, const Dims& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= t.size(d);
  return n;
}

Dims joined(std::initializer_list<const Dims*> lists) {
  Dims all;
  for (const Dims* list : lists) {
    for (const int64_t d : *list) all.push_back(d);
  }
  return all;
}

}  // namespace

Tensor contract(const char* op, const Tensor& a, const Tensor& b,
                IntArrayRef sum_dims) {
  // Dims of both, of one, summed in both, summed in one.
  Dims both, of_a, of_b, inner, only_a, only_b;
  for (int64_t d = 0; d < a.dim(); ++d) {
    const bool in_a = a.size(d) != 1, in_b = b.size(d) != 1;
    SY_CHECK(!in_a || !in_b || a.size(d) == b.size(d), Value,
             "[{}] tensors: expected sizes that broadcast, got {} and {}", op,
             a.size(d), b.size(d));
    const bool sum = geometry::contains(sum_dims, d);
    Dims& list = in_a && in_b ? (sum ? inner : both)
                 : in_a       ? (sum ? only_a : of_a)
                 : in_b       ? (sum ? only_b : of_b)
                              : both;
    list.push_back(d);
  }
  const Tensor x = summed(a, only_a), y = summed(b, only_b);
  if (inner.empty()) return mul(x, y);

  Dims rest = joined({&only_a, &only_b});
  const Tensor left =
      x.permute(joined({&both, &of_a, &inner, &of_b, &rest}))
          .reshape({count(x, both), count(x, of_a), count(x, inner)});
  const Tensor right =
      y.permute(joined({&both, &inner, &of_b, &of_a, &rest}))
          .reshape({count(x, both), count(y, inner), count(y, of_b)});
  const Tensor product = bmm(left, right);

  // Puts the dims back in order, summed ones with size 1.
  Dims sizes, place;
  place.resize(a.dim());
  int64_t at = 0;
  for (const Dims* list : {&both, &of_a, &of_b}) {
    for (const int64_t d : *list) {
      sizes.push_back(x.size(d) == 1 ? y.size(d) : x.size(d));
      place[d] = at++;
    }
  }
  for (const Dims* list : {&inner, &rest}) {
    for (const int64_t d : *list) {
      sizes.push_back(1);
      place[d] = at++;
    }
  }
  return product.reshape(sizes).permute(place);
}

}  // namespace sy::composite
