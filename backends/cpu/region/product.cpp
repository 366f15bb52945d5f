#include <cstring>

#include "backends/cpu/gemm/matrix.h"
#include "backends/cpu/region/run.h"

namespace sy::cpu {

// The kernels of mm, for every element of the dims that are no rows, columns or
// terms. The ops that follow the product in the region read the result while it
// is in the last cache, or in place.
void run_product(const RegionRun& run, const BoundLoop& bound) {
  const Product& p = bound.loop.product;
  const auto memory = [](int i) { return static_cast<size_t>(i); };
  const auto varies = [&](int m) {
    uint64_t bits = 0;
    for (size_t d = 0; d < run.sizes().size(); ++d) {
      if (bound.strides[memory(m)][d] != 0) bits |= uint64_t{1} << d;
    }
    return bits;
  };
  const uint64_t space = bound.loop.space;
  const uint64_t in_a = varies(p.a) & space, in_b = varies(p.b) & space;
  const std::pmr::vector<const int64_t*> strides(
      {bound.strides[memory(p.a)], bound.strides[memory(p.b)],
       bound.strides[memory(p.result)]},
      run.memory());
  const DimWalk terms(p.reduced, run.sizes(), strides);
  const DimWalk rows(in_a & ~in_b & ~p.reduced, run.sizes(), strides);
  const DimWalk columns(in_b & ~in_a & ~p.reduced, run.sizes(), strides);
  const DimWalk batches(space & ~p.reduced & ~(in_a ^ in_b), run.sizes(),
                        strides);
  SY_CHECK(terms.ndim() <= 1, Value,
           "[region] expected a product whose terms lie along one dim");
  const auto item = static_cast<int64_t>(element_size(p.dtype));
  char* const data[] = {bound.data[memory(p.a)], bound.data[memory(p.b)],
                        bound.data[memory(p.result)]};
  const int64_t m = rows.size(0), n = columns.size(0), k = terms.numel();
  const int64_t more_rows = m == 0 ? 0 : rows.numel() / m;
  const int64_t more_columns = n == 0 ? 0 : columns.numel() / n;
  for (int64_t i = 0; i < batches.numel(); ++i) {
    for (int64_t r = 0; r < more_rows; ++r) {
      for (int64_t c = 0; c < more_columns; ++c) {
        const auto at = [&](int which) {
          return data[which] + batches.offset(which, i) +
                 rows.offset(which, r, 1) + columns.offset(which, c, 1);
        };
        // A dim of one element has the stride that a dense matrix would have.
        const auto stride = [&](const DimWalk& walk, int which,
                                int64_t otherwise) {
          return walk.ndim() == 0 ? otherwise : walk.stride(which, 0) / item;
        };
        const Matrix a{at(0), m, k, stride(rows, 0, std::max<int64_t>(k, 1)),
                       stride(terms, 0, 1)};
        const Matrix b{at(1), k, n, stride(terms, 1, std::max<int64_t>(n, 1)),
                       stride(columns, 1, 1)};
        const Matrix to{at(2), m, n, stride(rows, 2, std::max<int64_t>(n, 1)),
                        stride(columns, 2, 1)};
        if (k == 0) {
          for (int64_t row = 0; row < m; ++row) {
            for (int64_t column = 0; column < n; ++column) {
              std::memset(to.data + item * (row * to.row_stride +
                                            column * to.col_stride),
                          0, static_cast<size_t>(item));
            }
          }
          continue;
        }
        multiply("region", p.dtype, a, b, to, 1, 0, nullptr);
      }
    }
  }
}

}  // namespace sy::cpu
