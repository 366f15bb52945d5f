#include "aten/contract/linalg.h"

#include "aten/engine/dims.h"
#include "aten/engine/operator_steps.h"

namespace sy {

namespace {

bool names(std::string_view op, std::string_view part) {
  return op.find(part) != std::string_view::npos;
}

}  // namespace

void check_linalg_info(std::string_view op, const Tensor& info) {
  const Tensor all = info.contiguous();
  const auto* codes = static_cast<const int32_t*>(all.raw_data());
  int64_t at = 0;
  while (at < all.numel() && codes[at] == 0) ++at;
  if (at == all.numel()) return;
  const int32_t code = codes[at];
  const std::string which =
      info.dim() == 0 ? "" : str(" (matrix {} of the batch)", at);
  SY_CHECK(code > 0, Value,
           "[{}] self: expected finite elements, got some that are not{}", op,
           which);
  SY_CHECK(!names(op, "cholesky"), LinAlg,
           "[{}] self: expected positive definite matrices, got one whose "
           "leading minor of order {} is not{}",
           op, code, which);
  SY_CHECK(!names(op, "svd") && !names(op, "eig"), LinAlg,
           "[{}] self: expected the iteration to converge, got {} values that "
           "did not{}",
           op, code, which);
  SY_CHECK(!names(op, "lstsq"), LinAlg,
           "[{}] self: expected matrices of full rank, got a zero in place {} "
           "of the diagonal{}",
           op, code, which);
  fail(ErrorKind::LinAlg,
       "[{}] A: expected nonsingular matrices, got a zero in place {} of the "
       "diagonal of U{}",
       op, code, which);
}

bool is_vector_beside(const Tensor& A, const Tensor& b) {
  return b.dim() == 1 ||
         (b.dim() == A.dim() - 1 &&
          b.sizes() == A.sizes().slice(0, static_cast<size_t>(b.dim())));
}

void store_by_columns(const OperatorEntry& op, const Tensor& result,
                      Tensor& out) {
  generated::check_out_dtype(op, out, result.dtype());
  const int64_t n = result.dim();
  if (out.sizes() != result.sizes() && n >= 2) {
    Dims sizes(result.sizes());
    std::swap(sizes[n - 1], sizes[n - 2]);
    prepare_out(op, out, sizes, result.dtype(), result.device());
    out.transpose_(-2, -1);
  }
  store_result(op, result, out);
}

}  // namespace sy
