// Ranks and extremes along a dim, made of a stable sort: for backends that have
// no kernels of their own for them.

#include <limits>
#include <tuple>

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "aten/ops/reduction.h"
#include "aten/ops/sort.h"
#include "aten/ops/sort_kernels.h"

namespace sy::composite {

namespace {

using Pair = std::tuple<Tensor, Tensor>;

// NaN comes last upwards and first downwards.
Pair sorted(const Tensor& t, int64_t dim, bool descending) {
  return sy::sort(t.dim() == 0 ? t.reshape(1) : t, true, dim, descending);
}

Pair finish(const Tensor& self, const Tensor& values, const Tensor& indices,
            int64_t dim, bool keepdim) {
  if (self.dim() == 0) return {values.reshape({}), indices.reshape({})};
  if (keepdim) return {values, indices};
  return {values.squeeze(dim), indices.squeeze(dim)};
}

Pair rank(const Tensor& self, int64_t dim, bool keepdim, bool descending,
          int64_t at) {
  const auto [values, indices] = sorted(self, dim, descending);
  return finish(self, values.narrow(dim, at, 1), indices.narrow(dim, at, 1),
                dim, keepdim);
}

enum class Rank { kLowest, kMiddle };

// The element of that rank, upwards, among those that are no NaN; the first NaN
// if there is one and `nan` says so.
Pair rank_of_numbers(const Tensor& self, int64_t dim, bool keepdim, Rank rank,
                     bool nan) {
  const auto [values, indices] = sorted(self, dim, false);
  const int64_t n = values.size(dim);
  const Tensor numbers = sy::sum(sy::eq(values, values).to(kLong), dim, true);
  Tensor at = sy::zeros_like(numbers);
  if (rank == Rank::kMiddle) {
    at = sy::floor_divide(sy::clamp_min(numbers - 1, Scalar(0)), Scalar(2));
  }
  if (nan) at = sy::where(numbers < n, numbers, at);
  return finish(self, sy::gather(values, dim, at), sy::gather(indices, dim, at),
                dim, keepdim);
}

Tensor of_all(const Tensor& self, bool nan) {
  if (self.numel() == 0) {
    const Scalar none = is_floating_type(self.scalar_type())
                            ? Scalar(std::numeric_limits<double>::quiet_NaN())
                            : Scalar(std::numeric_limits<int64_t>::min());
    return sy::full({}, none, self.options());
  }
  return std::get<0>(
      rank_of_numbers(self.reshape(-1), 0, false, Rank::kMiddle, nan));
}

}  // namespace

Pair kthvalue_by_sort(const Tensor& self, int64_t k, int64_t dim,
                      bool keepdim) {
  return rank(self, dim, keepdim, false, k - 1);
}

Pair max_by_sort(const Tensor& self, int64_t dim, bool keepdim) {
  return rank(self, dim, keepdim, true, 0);
}

Pair min_by_sort(const Tensor& self, int64_t dim, bool keepdim) {
  return rank_of_numbers(self, dim, keepdim, Rank::kLowest, true);
}

Pair median_by_sort(const Tensor& self, int64_t dim, bool keepdim) {
  return rank_of_numbers(self, dim, keepdim, Rank::kMiddle, true);
}

Pair nanmedian_by_sort(const Tensor& self, int64_t dim, bool keepdim) {
  return rank_of_numbers(self, dim, keepdim, Rank::kMiddle, false);
}

Tensor median_of_all_by_sort(const Tensor& self) { return of_all(self, true); }

Tensor nanmedian_of_all_by_sort(const Tensor& self) {
  return of_all(self, false);
}

}  // namespace sy::composite
