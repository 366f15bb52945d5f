#include "backends/cpu/gemm/gemm_blas.h"

#include <algorithm>
#include <limits>

#include "backends/cpu/support/lapack.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

// A block is not cut further below this many multiplications.
constexpr int64_t kBlockWork = int64_t{1} << 20;
// The cost of copying an element into OpenBLAS's layout, in multiplications.
constexpr int64_t kPackWork = 36;
// Blocks begin at multiples of what its loops take at a time.
constexpr int64_t kStep = 16;

// c as `rows` by `cols` blocks.
struct Grid {
  int64_t rows = 1, cols = 1;
};

int64_t steps(int64_t n) { return (n + kStep - 1) / kStep; }
// The begin of block i of `count` in n elements.
int64_t start(int64_t n, int64_t count, int64_t i) {
  return i == count ? n : steps(n) * i / count * kStep;
}

// One block a thread, so that the largest takes least. OpenBLAS could cut by
// itself, but then nobody else may be in it (LapackApi::enter).
Grid grid_for(const Gemm<double>& g) {
  const int64_t work = g.m * g.n * g.k;
  const int64_t threads =
      in_parallel_region()
          ? 1
          : std::min<int64_t>(get_num_threads(),
                              std::max<int64_t>(1, work / kBlockWork));
  Grid best;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int64_t cols = 1; cols <= threads; ++cols) {
    const Grid grid{std::min(threads / cols, steps(g.m)),
                    std::min(cols, steps(g.n))};
    const int64_t m = (steps(g.m) + grid.rows - 1) / grid.rows * kStep;
    const int64_t n = (steps(g.n) + grid.cols - 1) / grid.cols * kStep;
    const int64_t cost = m * n + kPackWork * (m + n);
    if (cost < least) {
      least = cost;
      best = grid;
    }
  }
  return best;
}

// c by rows is its transpose by columns: that of b times that of a.
void block_by_blas(const LapackApi& api, const Gemm<double>& g) {
  const auto narrow = [](int64_t n) { return static_cast<int32_t>(n); };
  const char b_trans = g.b_col == 1 ? 'N' : 'T';
  const char a_trans = g.a_col == 1 ? 'N' : 'T';
  const int32_t m = narrow(g.n), n = narrow(g.m), k = narrow(g.k);
  const int32_t b_lead = narrow(g.b_col == 1 ? g.b_row : g.b_col);
  const int32_t a_lead = narrow(g.a_col == 1 ? g.a_row : g.a_col);
  const int32_t c_lead = narrow(g.c_row);
  double beta = g.beta;
  if (g.bias != nullptr) {
    for (int64_t row = 0; row < g.m; ++row) {
      std::copy_n(g.bias, g.n, g.c + row * g.c_row);
    }
    beta = 1;
  }
  api.f64.gemm(&b_trans, &a_trans, &m, &n, &k, &g.alpha, g.b, &b_lead, g.a,
               &a_lead, &beta, g.c, &c_lead, 1, 1);
}

}  // namespace

bool fits_blas(const Gemm<double>& g) {
  return std::max({g.m, g.n, g.k, g.a_row, g.a_col, g.b_row, g.b_col,
                   g.c_row}) <= std::numeric_limits<int32_t>::max();
}

void gemm_by_blas(const LapackApi& api, const Gemm<double>& g) {
  const Grid grid = grid_for(g);
  parallel_for(0, grid.rows * grid.cols, 1, [&](int64_t begin, int64_t end) {
    const InLapack in(api, 1);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t i_row = i / grid.cols, i_col = i % grid.cols;
      const int64_t row = start(g.m, grid.rows, i_row);
      const int64_t col = start(g.n, grid.cols, i_col);
      Gemm<double> part = g;
      part.m = start(g.m, grid.rows, i_row + 1) - row;
      part.n = start(g.n, grid.cols, i_col + 1) - col;
      part.a += row * g.a_row;
      part.b += col * g.b_col;
      part.c += row * g.c_row + col;
      if (g.bias != nullptr) part.bias += col;
      block_by_blas(api, part);
    }
  });
}

}  // namespace sy::cpu
