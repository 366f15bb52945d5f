#include "aten/contract/linalg_info.h"
#include "aten/ops/copy.h"
#include "aten/ops/determinant_kernels.h"

namespace sy::composite {

void linalg_check_errors(const Tensor& info, std::string_view api_name, bool) {
  if (info.device().type() == kMeta) return;
  check_linalg_info(api_name, info.to(Device(kCPU)));
}

}  // namespace sy::composite
