#include "backends/cpu/gemm/gemm.h"

#include <algorithm>

#include "backends/cpu/support/inline_memory.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

// One thread is faster below this many multiplications.
constexpr int64_t kParallelWork = 1 << 18;
// Rows of b whose panels are multiplied at a time, and their columns: they stay
// in the second cache.
constexpr int64_t kDepth = 384;
constexpr int64_t kWidth = 1024;
// A small b is multiplied as it lies.
constexpr int64_t kUnpackedBytes = 64 << 10;
// Dot products of a's rows and b's columns take less than transposing b up to
// so many rows, and from such a depth on.
constexpr int64_t kDotRows = 8;
constexpr int64_t kDotDepth = 32;

// The rows of b are read where they lie up to so many times the kernel's rows:
// to pack them takes longer than it saves.
constexpr int64_t kUnpackedRows = 2;

using Workspace = InlineMemory<32 << 10>;

// Copies columns [col, col + width) of rows [row, row + depth) to contiguous
// rows of `panel` columns; leaves the elements beyond width as they are.
template <class T>
void pack_panel(const Gemm<T>& g, int64_t row, int64_t depth, int64_t col,
                int64_t width, int64_t panel, T* to) {
  const T* from = g.b + row * g.b_row + col * g.b_col;
  if (g.b_col == 1) {
    for (int64_t r = 0; r < depth; ++r) {
      std::copy_n(from + r * g.b_row, width, to + r * panel);
    }
  } else if (g.b_row == 1) {
    tiles::transpose(sizeof(T), to, panel * static_cast<int64_t>(sizeof(T)),
                     from, g.b_col * static_cast<int64_t>(sizeof(T)), width,
                     depth);
  } else {
    for (int64_t r = 0; r < depth; ++r) {
      tiles::load_strided(sizeof(T), to + r * panel, from + r * g.b_row,
                          g.b_col * static_cast<int64_t>(sizeof(T)), width);
    }
  }
}

template <class T>
void small(const Gemm<T>& g, const detail::GemmKernel<T>& kernel) {
  if (g.b_col == 1) return kernel.run(g);
  if (g.b_row == 1 && g.a_col == 1 && g.m <= kDotRows && g.k >= kDotDepth) {
    return kernel.run_by_dots(g);
  }
  Gemm<T> packed = g;
  Workspace room(g.k * g.n * static_cast<int64_t>(sizeof(T)));
  T* const b = reinterpret_cast<T*>(room.data());
  pack_panel(g, 0, g.k, 0, g.n, g.n, b);
  packed.b = b;
  packed.b_row = g.n;
  packed.b_col = 1;
  kernel.run(packed);
}

template <class T>
void blocked(const Gemm<T>& g, const detail::GemmKernel<T>& kernel) {
  const int64_t width = std::min(kWidth, g.n);
  const int64_t depth = std::min(kDepth, g.k);
  const int64_t panels = (width + kernel.panel - 1) / kernel.panel;
  const bool packs = g.b_col != 1 || g.m > kUnpackedRows * kernel.rows;
  Workspace room(packs ? panels * kernel.panel * depth *
                             static_cast<int64_t>(sizeof(T))
                       : 0);
  T* const packed = reinterpret_cast<T*>(room.data());
  // The number of rows that one thread takes at a time.
  const int64_t rows = kernel.rows * 4;
  for (int64_t col = 0; col < g.n; col += width) {
    const int64_t n = std::min(width, g.n - col);
    const int64_t n_panels = (n + kernel.panel - 1) / kernel.panel;
    for (int64_t p = 0; p < g.k; p += depth) {
      const int64_t k = std::min(depth, g.k - p);
      const auto pack = [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t at = i * kernel.panel;
          pack_panel(g, p, k, col + at, std::min(kernel.panel, n - at),
                     kernel.panel, packed + at * k);
        }
      };
      if (packs) {
        parallel_for(0, n_panels,
                     std::max<int64_t>(1, (1 << 16) / (k * kernel.panel)),
                     pack);
      }
      const int64_t row_blocks = (g.m + rows - 1) / rows;
      const int64_t work = rows * n * k;
      parallel_for(0, row_blocks, std::max<int64_t>(1, kParallelWork / work),
                   [&](int64_t begin, int64_t end) {
                     Gemm<T> part = g;
                     part.k = k;
                     part.b_row = packs ? kernel.panel : g.b_row;
                     part.b_col = 1;
                     if (p != 0) {
                       part.beta = 1;
                       part.bias = nullptr;
                     }
                     for (int64_t i = begin; i < end; ++i) {
                       const int64_t row = i * rows;
                       part.a = g.a + row * g.a_row + p * g.a_col;
                       part.m = std::min(rows, g.m - row);
                       for (int64_t j = 0; j < n_panels; ++j) {
                         const int64_t at = j * kernel.panel;
                         part.b = packs ? packed + at * k
                                        : g.b + p * g.b_row + col + at;
                         part.n = std::min(kernel.panel, n - at);
                         part.c = g.c + row * g.c_row + col + at;
                         if (part.bias != nullptr)
                           part.bias = g.bias + col + at;
                         kernel.run(part);
                       }
                     }
                   });
    }
  }
}

template <class T>
void run_dots(const Dots<T>& d, size_t item, void (*dots)(const Dots<T>&)) {
  parallel_for(0, d.rows,
               std::max<int64_t>(4, kParallelWork / std::max<int64_t>(1, d.k)),
               [&](int64_t begin, int64_t end) {
                 Dots<T> part = d;
                 part.rows = end - begin;
                 part.matrix =
                     static_cast<const char*>(d.matrix) +
                     begin * d.row_stride * static_cast<int64_t>(item);
                 part.out += begin * d.out_stride;
                 if (part.bias != nullptr) part.bias += begin * d.bias_stride;
                 dots(part);
               });
}

// Products with a vector, where the matrix is read along its rows: false if it
// is another kind.
template <class T>
bool by_dots(const Gemm<T>& g, const detail::GemmKernel<T>& kernel) {
  Dots<T> d;
  int64_t step;  // of the vector
  if (g.m == 1 && g.b_row == 1) {
    d = {g.n, g.k, g.b, g.b_col, g.a, g.c, 1, g.alpha, g.beta, g.bias, 1};
    step = g.a_col;
  } else if (g.n == 1 && g.a_col == 1) {
    d = {g.m, g.k, g.a, g.a_row, g.b, g.c, g.c_row, g.alpha, g.beta, g.bias, 0};
    step = g.b_row;
  } else {
    return false;
  }
  Workspace room(step == 1 ? 0 : g.k * static_cast<int64_t>(sizeof(T)));
  if (step != 1) {
    tiles::load_strided(sizeof(T), room.data(), d.vector,
                        step * static_cast<int64_t>(sizeof(T)), g.k);
    d.vector = reinterpret_cast<const T*>(room.data());
  }
  run_dots(d, sizeof(T), kernel.dots);
  return true;
}

template <class T>
void run(const Gemm<T>& g) {
  if (g.m == 0 || g.n == 0) return;
  const detail::GemmKernel<T>& kernel = detail::gemm_kernel<T>();
  if ((g.m == 1 || g.n == 1) && by_dots(g, kernel)) return;
  const int64_t b_bytes = g.k * g.n * static_cast<int64_t>(sizeof(T));
  if (b_bytes <= kUnpackedBytes && g.m * g.n * g.k <= kParallelWork) {
    small(g, kernel);
  } else {
    blocked(g, kernel);
  }
}

}  // namespace

void gemm(const Gemm<float>& g) { run(g); }
void gemm(const Gemm<double>& g) { run(g); }

void gemm_dots(ScalarType dtype, const Dots<float>& d) {
  const detail::GemmKernel<float>& kernel = detail::gemm_kernel<float>();
  run_dots(d, dtype == kFloat ? 4 : 2,
           dtype == kFloat  ? kernel.dots
           : dtype == kHalf ? kernel.half_dots
                            : kernel.bfloat16_dots);
}

}  // namespace sy::cpu
