#include "backends/cpu/gemm/gemm_bf16.h"

#include <algorithm>

#include "backends/cpu/support/inline_memory.h"
#include "backends/cpu/tiles/kernels.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

// One thread is faster below this many multiplications.
constexpr int64_t kParallelWork = 1 << 19;
// Rows of b in a block, so that a panel of it stays in the first cache, and
// columns, so that the sums of a block of rows stay in the second.
constexpr int64_t kDepth = 512;
constexpr int64_t kColumns = 512;
constexpr int64_t kRowBlock = detail::kBf16Rows * 8;
// Elements of b that are packed at a time.
constexpr int64_t kPacked = 8 << 20;
// Few rows are multiplied with b as it lies.
constexpr int64_t kFewRows = 4;

using Workspace = InlineMemory<16 << 10>;

int64_t blocks(int64_t n, int64_t size) { return (n + size - 1) / size; }

// The product of all rows with columns [col, col + width) of b, which `packed`
// holds: for each depth its panels, or nothing where b is read as it lies.
struct Columns {
  const GemmBf16& g;
  int64_t col, width;
  const char* packed;

  const char* panel(int64_t p, int64_t depth, int64_t at) const {
    const int64_t full = blocks(width, detail::kBf16Panel);
    return packed + detail::bf16_panel_bytes(p) * full +
           at / detail::kBf16Panel * detail::bf16_panel_bytes(depth);
  }

  // Rows [row, row + rows) times columns [at, at + n) of these.
  void run(int64_t row, int64_t rows, int64_t at, int64_t n, float* partial,
           BFloat16* a_room) const {
    const int64_t depths = blocks(g.k, kDepth);
    detail::Bf16Block x{};
    x.partial_row = n;
    x.c_row = g.c_row;
    x.c_is_float = g.c_is_float;
    x.alpha = g.alpha;
    x.beta = g.beta;
    x.b_row = g.b_row;
    for (int64_t d = 0; d < std::max<int64_t>(depths, 1); ++d) {
      const int64_t p = d * kDepth;
      x.k = std::min(kDepth, g.k - p);
      x.first = d == 0;
      x.last = p + x.k == g.k;
      const BFloat16* a = g.a + row * g.a_row + p * g.a_col;
      int64_t a_row = g.a_row;
      if (g.a_col != 1) {
        copy_rows(a, rows, x.k, a_room);
        a = a_room;
        a_row = x.k;
      }
      x.a_row = a_row;
      for (int64_t j = at; j < at + n; j += detail::kBf16Panel) {
        x.width = std::min(detail::kBf16Panel, at + n - j);
        if (packed != nullptr) {
          x.panel = panel(p, x.k, j);
        } else {
          x.b = g.b + p * g.b_row + col + j;
        }
        x.bias = g.bias == nullptr ? nullptr : g.bias + col + j;
        for (int64_t i = 0; i < rows; i += detail::kBf16Rows) {
          x.rows = std::min(detail::kBf16Rows, rows - i);
          x.a = a + i * a_row;
          x.partial = partial + i * n + (j - at);
          x.c = static_cast<char*>(g.c) +
                ((row + i) * g.c_row + col + j) * (g.c_is_float ? 4 : 2);
          detail::multiply_bf16_block(x);
        }
      }
    }
  }

 private:
  void copy_rows(const BFloat16* a, int64_t rows, int64_t k,
                 BFloat16* to) const {
    if (g.a_row == 1) {
      tiles::transpose(2, to, k * 2, a, g.a_col * 2, k, rows);
    } else {
      for (int64_t i = 0; i < rows; ++i) {
        tiles::load_strided(2, to + i * k, a + i * g.a_row, g.a_col * 2, k);
      }
    }
  }
};

void multiply(const Columns& c) {
  const GemmBf16& g = c.g;
  const int64_t row_blocks = blocks(g.m, kRowBlock);
  // Few rows: narrower blocks, so that each thread has one.
  const int64_t wanted = 4 * int64_t{get_num_threads()};
  int64_t columns = kColumns;
  while (columns > detail::kBf16Panel &&
         row_blocks * blocks(c.width, columns) < wanted) {
    columns /= 2;
  }
  columns = std::min(columns, c.width);
  const int64_t column_blocks = blocks(c.width, columns);
  const int64_t rows = std::min(kRowBlock, g.m);
  const int64_t work = rows * columns * std::max<int64_t>(g.k, 1);
  const int64_t sums = g.k > kDepth ? rows * columns * 4 : 0;
  const int64_t a_room = g.a_col == 1 ? 0 : rows * std::min(kDepth, g.k) * 2;
  parallel_for(0, row_blocks * column_blocks,
               std::max<int64_t>(1, kParallelWork / work),
               [&](int64_t begin, int64_t end) {
                 Workspace room(sums + a_room);
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t row = i / column_blocks * kRowBlock;
                   const int64_t at = i % column_blocks * columns;
                   c.run(row, std::min(kRowBlock, g.m - row), at,
                         std::min(columns, c.width - at),
                         reinterpret_cast<float*>(room.data()),
                         reinterpret_cast<BFloat16*>(room.data() + sums));
                 }
               });
}

void pack(const Columns& c, char* to) {
  const GemmBf16& g = c.g;
  const int64_t panels = blocks(c.width, detail::kBf16Panel);
  const int64_t depths = blocks(g.k, kDepth);
  parallel_for(0, panels * depths,
               std::max<int64_t>(1, (1 << 15) / (kDepth * detail::kBf16Panel)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t p = i / panels * kDepth;
                   const int64_t depth = std::min(kDepth, g.k - p);
                   const int64_t at = i % panels * detail::kBf16Panel;
                   detail::pack_bf16_panel(
                       g, p, depth, c.col + at,
                       std::min(detail::kBf16Panel, c.width - at),
                       to + (c.panel(p, depth, at) - c.packed));
                 }
               });
}

}  // namespace

int64_t bf16_packed_bytes(int64_t k, int64_t n) {
  return blocks(n, detail::kBf16Panel) * detail::bf16_panel_bytes(k);
}

bool packs_bf16(const GemmBf16& g) {
  return !(g.m <= kFewRows && g.a_col == 1 && g.b_row == 1) &&
         !(g.m <= detail::kBf16Rows && g.b_col == 1);
}

void gemm(const GemmBf16& g) {
  if (g.m == 0 || g.n == 0) return;
  if (!packs_bf16(g)) {
    if (g.b_col == 1) return multiply({g, 0, g.n, nullptr});
    const int64_t work = g.m * std::max<int64_t>(g.k, 1);
    parallel_for(0, g.n, std::max<int64_t>(4, kParallelWork / work),
                 [&](int64_t begin, int64_t end) {
                   detail::multiply_bf16_dots(g, begin, end);
                 });
    return;
  }
  int64_t width = g.n;
  if (g.packed == nullptr) {
    const int64_t most =
        std::max<int64_t>(kColumns, kPacked / std::max<int64_t>(g.k, 1)) /
        kColumns * kColumns;
    width = std::min(g.n, most);
  }
  Workspace room(g.packed == nullptr ? bf16_packed_bytes(g.k, width) : 0);
  char* const packed =
      g.packed == nullptr ? room.data() : static_cast<char*>(g.packed);
  for (int64_t col = 0; col < g.n; col += width) {
    const Columns c{g, col, std::min(width, g.n - col), packed};
    if (!g.is_packed) pack(c, packed);
    multiply(c);
  }
}

}  // namespace sy::cpu
