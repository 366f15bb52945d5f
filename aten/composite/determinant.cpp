#include "aten/contract/linalg.h"

#include <tuple>

#include "aten/composite/lu_factors.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/determinant_kernels.h"
#include "aten/ops/math.h"

namespace sy::composite {

void linalg_check_errors(const Tensor& info, std::string_view api_name, bool) {
  if (info.device().type() == kMeta) return;
  check_linalg_info(api_name, info.to(Device(kCPU)));
}

// For backends that have no kernels of their own.
std::tuple<Tensor, Tensor, Tensor> det_by_factors(const Tensor& A) {
  const LuFactors f(A);
  return {f.sign() * f.diagonal().prod(-1), f.LU, f.pivots};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> slogdet_by_factors(const Tensor& A) {
  const LuFactors f(A);
  const Tensor d = f.diagonal();
  // NaN stays.
  const Tensor signs = sy::where(d.ne(d), d, sy::sign(d));
  return {f.sign() * signs.prod(-1), sy::log(sy::abs(d)).sum({-1}), f.LU,
          f.pivots};
}

}  // namespace sy::composite
