#include "aten/engine/copy.h"
#include "aten/ops/matrix_functions_kernels.h"
#include "backends/cpu/matrix_functions_kernels_gen.h"

namespace sy::cpu {

void matrix_exp_out(const Tensor& self, const Tensor& out) {
  copy_cpu(out, composite::matrix_exp_by_series(self));
}

}  // namespace sy::cpu
