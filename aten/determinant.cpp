#include "aten/linalg_info.h"
#include "aten/ops/copy.h"
#include "aten/ops/determinant_kernels.h"
#include "aten/ops/view.h"

namespace sy {

namespace {

bool names(std::string_view op, std::string_view part) {
  return op.find(part) != std::string_view::npos;
}

}  // namespace

void check_linalg_info(std::string_view op, const Tensor& info) {
  const Tensor all = info.contiguous();
  const auto* codes = static_cast<const int32_t*>(all.data_ptr());
  int64_t at = 0;
  while (at < all.numel() && codes[at] == 0) ++at;
  if (at == all.numel()) return;
  const int32_t code = codes[at];
  const std::string which =
      info.dim() == 0 ? "" : str(" (matrix ", at, " of the batch)");
  SY_CHECK(code > 0, Value, "[", op,
           "] self: expected finite elements, got some that are not", which);
  SY_CHECK(!names(op, "cholesky"), Value, "[", op,
           "] self: expected positive definite matrices, got one whose leading "
           "minor of order ",
           code, " is not", which);
  SY_CHECK(!names(op, "svd") && !names(op, "eig"), Value, "[", op,
           "] self: expected the iteration to converge, got ", code,
           " values that did not", which);
  SY_CHECK(!names(op, "lstsq"), Value, "[", op,
           "] self: expected matrices of full rank, got a zero in place ", code,
           " of the diagonal", which);
  fail(ErrorKind::Value, "[", op,
       "] A: expected nonsingular matrices, got a zero in place ", code,
       " of the diagonal of U", which);
}

void native::linalg_check_errors(const Tensor& info, std::string_view api_name,
                                 bool) {
  if (info.device().type == kMeta) return;
  check_linalg_info(api_name, info.to(kCPU));
}

}  // namespace sy
