#include "aten/engine/dims.h"
#include "aten/ops/all.h"
#include "aten/ops/qr_kernels.h"

namespace sy::composite {

std::tuple<Tensor, Tensor> linalg_qr(const Tensor& A, std::string_view mode) {
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  const auto [h, tau] = geqrf(A);
  if (mode == "r") {
    return {empty(IntArrayRef(int64_t{0}), A.options()),
            h.narrow(-2, 0, k).triu()};
  }
  if (mode == "reduced" || m <= n) {
    return {linalg_householder_product(h.narrow(-1, 0, k), tau),
            h.narrow(-2, 0, k).triu()};
  }
  Dims sizes(A.sizes());
  sizes[A.dim() - 1] = m - n;
  const Tensor square = cat({h, zeros(sizes, A.options())}, -1);
  return {linalg_householder_product(square, tau), h.triu()};
}

}  // namespace sy::composite
