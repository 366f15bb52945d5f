#include "backends/cuda/support/factors.h"

#include <algorithm>

#include "aten/contract/linalg.h"
#include "aten/engine/columns.h"
#include "aten/engine/copy.h"
#include "aten/engine/structured.h"
#include "aten/engine/view.h"
#include "backends/cuda/print/body.h"
#include "backends/cuda/runtime/launch.h"

namespace sy::cuda {

int64_t count_matrices(const Tensor& t) {
  int64_t n = 1;
  for (const int64_t size : t.sizes().slice(0, t.dim() - 2)) n *= size;
  return n;
}

FactorMatrix matrix_of(const Tensor& t) {
  const auto n = static_cast<size_t>(t.dim());
  const IntArrayRef sizes = t.sizes(), strides = t.strides();
  const int64_t batch =
      count_matrices(t) == 1 ? 0 : sizes[n - 2] * sizes[n - 1];
  return {static_cast<char*>(t.raw_data()), batch, strides[n - 2],
          strides[n - 1]};
}

const Function& factor_kernel(const Tensor& t, const char* name) {
  const Define define[] = {
      {"SY_ELEMENT", print::element_name(t.scalar_type())}};
  return kernel(t.device().index(), "support/factors.cu", name, define);
}

void check_fits(const char* op, int64_t blocks) {
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  SY_CHECK(blocks <= kMost, Value, "[{}] expected at most {} columns, got {}",
           op, kMost, blocks);
}

Tensor columns_of(const Tensor& self, IntArrayRef sizes) {
  const Tensor out = new_by_columns(self, sizes, self.scalar_type());
  copy_tensor(out, self.expand(sizes));
  return out;
}

Tensor factor(const char* op, const char* name, const Tensor& a,
              const Tensor& pivots, FactorParams p) {
  const auto n = static_cast<size_t>(a.dim());
  const Tensor info = new_result(a, a.sizes().slice(0, n - 2), kInt);
  check_fits(op, std::max({info.numel(), a.size(-2), a.size(-1)}));
  p.rows = static_cast<int>(a.size(-2));
  p.columns = static_cast<int>(a.size(-1));
  p.info = static_cast<int*>(info.raw_data());
  if (pivots.defined()) p.pivots = static_cast<int*>(pivots.raw_data());
  launch(a.device().index(), factor_kernel(a, name),
         {{static_cast<unsigned>(info.numel())}, {kFactorThreads}}, p,
         {&a, &pivots, &info});
  return info;
}

void check_info(const char* op, const Tensor& info) {
  check_linalg_info(op, info.to(Device(kCPU), kInt));
}

}  // namespace sy::cuda
