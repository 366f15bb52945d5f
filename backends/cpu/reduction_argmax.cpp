#include <algorithm>
#include <cstring>

#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "backends/cpu/engine/reduce_engine.h"
#include "backends/cpu/reduction_argmax.h"
#include "backends/cpu/reduction_kernels_gen.h"
#include "backends/cpu/support/dtype_switch.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

constexpr int64_t kGrain = 32768;
constexpr int64_t kColumns = 256;
// Rows whose numbers fit the kernels' int32.
constexpr int64_t kRows = int64_t{1} << 30;

// Outer x size x inner elements around the dim, contiguous.
struct Extent {
  int64_t outer = 1, size = 1, inner = 1;
};

// Kernels compare halves as floats and bools as bytes.
ScalarType compared_as(ScalarType t) {
  if (t == kBool) return kByte;
  return t == kHalf || t == kBFloat16 ? kFloat : t;
}

// Finds the best: NaN before all, then the first of equals.
class Chooser {
 public:
  Chooser(bool max, ScalarType self)
      : loader_(self, compared_as(self)),
        best_(tiles::reduce_fn(
            max ? tiles::Reduction::max : tiles::Reduction::min, type())),
        find_(tiles::find_fn(type())),
        choose_(tiles::choose_rows_fn(max, type())) {}

  void run(const char* x, const Extent& e, int64_t* to) const {
    const int64_t strips = (e.inner + kColumns - 1) / kColumns;
    const int64_t work =
        std::max<int64_t>(1, e.size * std::min(e.inner, kColumns));
    const int64_t plane = e.size * e.inner * loader_.from_size;
    parallel_for(0, e.outer * strips, std::max<int64_t>(1, kGrain / work),
                 [&](int64_t begin, int64_t end) {
                   RowBuffers buffers;
                   for (int64_t i = begin; i < end; ++i) {
                     if (e.inner == 1) {
                       to[i] = in_row(x + i * plane, e.size, &buffers);
                       continue;
                     }
                     const int64_t at = i % strips * kColumns;
                     in_columns(x + i / strips * plane + at * loader_.from_size,
                                e.size, e.inner * loader_.from_size,
                                std::min(kColumns, e.inner - at),
                                to + i / strips * e.inner + at, &buffers);
                   }
                 });
  }

 private:
  program::ComputeType type() const {
    return program::compute_type_of(loader_.to);
  }
  int64_t chunk(int64_t n) const {
    return loader_.converts ? std::min(n, kRowChunk) : n;
  }
  const char* load(const char* row, int64_t n, RowBuffers* buffers) const {
    return loader_.load(row, loader_.from_size, n, buffers);
  }

  int64_t in_row(const char* x, int64_t n, RowBuffers* buffers) const {
    alignas(8) char best[8];
    std::memcpy(best, load(x, 1, buffers),
                static_cast<size_t>(loader_.to_size));
    const int64_t step = chunk(n);
    for (int64_t i = 0; i < n; i += step) {
      const int64_t m = std::min(step, n - i);
      best_(best, load(x + i * loader_.from_size, m, buffers), m);
    }
    for (int64_t i = 0;; i += step) {
      const int64_t m = std::min(step, n - i);
      const int64_t at =
          find_(load(x + i * loader_.from_size, m, buffers), m, best);
      if (at < m) return i + at;
    }
  }

  void in_columns(const char* x, int64_t rows, int64_t stride, int64_t n,
                  int64_t* to, RowBuffers* buffers) const {
    alignas(64) char best[kColumns * 8];
    alignas(64) int32_t place[kColumns];
    std::memcpy(best, load(x, n, buffers),
                static_cast<size_t>(n * loader_.to_size));
    std::fill_n(to, n, 0);
    for (int64_t first = 1; first < rows; first += kRows) {
      const int64_t m = std::min(kRows, rows - first);
      std::fill_n(place, n, -1);
      const char* row = x + first * stride;
      if (loader_.converts) {
        for (int32_t r = 0; r < m; ++r, row += stride) {
          choose_(best, place, load(row, n, buffers), 0, r, 1, n);
        }
      } else {
        choose_(best, place, row, stride, 0, static_cast<int32_t>(m), n);
      }
      for (int64_t j = 0; j < n; ++j) {
        if (place[j] >= 0) to[j] = first + place[j];
      }
    }
  }

  RowLoader loader_;
  tiles::ReduceFn best_;
  tiles::FindFn find_;
  tiles::ChooseRowsFn choose_;
};

}  // namespace

void find_extremes(const char* op, bool max, const Tensor& self,
                   std::optional<int64_t> dim, const Tensor& out) {
  Extent e;
  const int64_t at = dim ? wrap_dim(op, *dim, self.dim()) : 0;
  for (int64_t d = 0; d < self.dim(); ++d) {
    const int64_t size = self.sizes()[static_cast<size_t>(d)];
    (!dim || d == at ? e.size : d < at ? e.outer : e.inner) *= size;
  }
  SY_CHECK(e.size > 0, Index,
           "[{}] self: expected at least one element to choose from, got {}",
           op, describe(self));
  if (out.numel() == 0) return;
  const Tensor x = contiguous_cpu(self);
  const Tensor places =
      out.is_contiguous() && out.dtype() == kLong
          ? out
          : Tensor(make_tensor(out.sizes(), kLong, out.device()));
  auto* to = static_cast<int64_t*>(places.raw_data());
  Chooser(max, self.dtype()).run(static_cast<const char*>(x.raw_data()), e, to);
  if (!places.is_same(out)) copy_cpu(out, places);
}

void argmax_out(const Tensor& self, std::optional<int64_t> dim, bool,
                const Tensor& out) {
  find_extremes("argmax", true, self, dim, out);
}

void argmin_out(const Tensor& self, std::optional<int64_t> dim, bool,
                const Tensor& out) {
  find_extremes("argmin", false, self, dim, out);
}

}  // namespace sy::cpu
