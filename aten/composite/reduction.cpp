// The place of an extreme, made of max and min along a dim: for backends that
// have no kernels of their own for it.

#include <tuple>
#include <vector>

#include "aten/ops/reduction_kernels.h"
#include "aten/ops/sort.h"

namespace sy::composite {

namespace {

Tensor place(const Tensor& self, std::optional<int64_t> dim, bool keepdim,
             bool largest) {
  const auto along = [&](const Tensor& t, int64_t d, bool keep) {
    return std::get<1>(largest ? sy::max(t, d, keep) : sy::min(t, d, keep));
  };
  if (dim) return along(self, *dim, keepdim);
  const Tensor at = along(self.reshape(-1), 0, false);
  return keepdim ? at.reshape(
                       std::vector<int64_t>(static_cast<size_t>(self.dim()), 1))
                 : at;
}

}  // namespace

Tensor argmax_by_max(const Tensor& self, std::optional<int64_t> dim,
                     bool keepdim) {
  return place(self, dim, keepdim, true);
}

Tensor argmin_by_min(const Tensor& self, std::optional<int64_t> dim,
                     bool keepdim) {
  return place(self, dim, keepdim, false);
}

}  // namespace sy::composite
