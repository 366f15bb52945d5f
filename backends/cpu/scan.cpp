#include <algorithm>
#include <vector>

#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "backends/cpu/scan_kernels_gen.h"
#include "backends/cpu/support/dtype_switch.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

// Columns that a thread takes along the dim together.
constexpr int64_t kColumns = 64;
constexpr int64_t kGrain = 1 << 14;

// y_i = a_i y_(i-1) + b_i for `width` columns, n times, `stride` apart.
template <class T>
void run_columns(const T* a, const T* b, T* y, int64_t n, int64_t stride,
                 int64_t width) {
  using A = typename Accumulate<T>::type;
  double before[kColumns] = {};
  for (int64_t i = 0; i < n; ++i, a += stride, b += stride, y += stride) {
    for (int64_t c = 0; c < width; ++c) {
      // The first has none before it, whatever its factor.
      const double more =
          i == 0 ? 0 : static_cast<double>(static_cast<A>(a[c])) * before[c];
      before[c] = more + static_cast<double>(static_cast<A>(b[c]));
      y[c] = static_cast<T>(static_cast<A>(before[c]));
    }
  }
}

}  // namespace

void linear_scan_out(const Tensor& a, const Tensor& b, int64_t dim,
                     const Tensor& out) {
  dim = wrap_dim("_linear_scan", dim, b.dim());
  if (out.numel() == 0) return;
  const Tensor factors = contiguous_cpu(a), terms = contiguous_cpu(b);
  const Tensor to =
      out.is_contiguous()
          ? out
          : Tensor(make_tensor(out.sizes(), out.dtype(), Device(kCPU)));
  const int64_t n = b.dim() == 0 ? 1 : b.size(dim);
  int64_t inner = 1;
  for (int64_t d = dim + 1; d < b.dim(); ++d) inner *= b.size(d);
  const int64_t blocks = (inner + kColumns - 1) / kColumns;
  visit_floating_dtypes("_linear_scan", out.dtype(), [&]<class T>() {
    const auto* const x = static_cast<const T*>(factors.raw_data());
    const auto* const z = static_cast<const T*>(terms.raw_data());
    auto* const y = static_cast<T*>(to.raw_data());
    parallel_for(0, out.numel() / (n * inner) * blocks,
                 std::max<int64_t>(1, kGrain / (n * std::min(inner, kColumns))),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t k = begin; k < end; ++k) {
                     const int64_t column = k % blocks * kColumns;
                     const int64_t at = k / blocks * n * inner + column;
                     run_columns(x + at, z + at, y + at, n, inner,
                                 std::min(kColumns, inner - column));
                   }
                 });
  });
  if (!to.is_same(out)) copy_cpu(out, to);
}

}  // namespace sy::cpu
