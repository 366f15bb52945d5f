#include <algorithm>
#include <type_traits>

#include "aten/copy.h"
#include "aten/dims.h"
#include "backends/cpu/dtype_switch.h"
#include "backends/cpu/reduction_kernels_gen.h"
#include "backends/cpu/sort_kernels_gen.h"
#include "c10/parallel.h"

namespace sy::cpu {

namespace {

constexpr int64_t kGrain = 32768;
constexpr int64_t kColumns = 256;

// Outer x size x inner elements around the dim, contiguous.
struct Extent {
  int64_t outer = 1, size = 1, inner = 1;
};

// Whether v is to be taken in place of an earlier value: NaN before all, the
// first of equals.
template <bool kMax, class A>
bool better(A v, A best) {
  if constexpr (std::is_floating_point_v<A>) {
    return (kMax ? v > best : v < best) || (v != v && best == best);
  } else {
    return kMax ? v > best : v < best;
  }
}

// The best value of a piece, by lanes that know nothing of places; NaN if
// there is one.
template <bool kMax, class T, class A>
A best_of(const T* x, int64_t n) {
  constexpr int64_t kLanes = 16;
  A best[kLanes];
  for (int64_t l = 0; l < kLanes; ++l) best[l] = static_cast<A>(x[0]);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) {
      const A v = static_cast<A>(x[i + l]);
      best[l] = better<kMax>(v, best[l]) ? v : best[l];
    }
  }
  A all = best[0];
  for (int64_t l = 1; l < kLanes; ++l) {
    if (better<kMax>(best[l], all)) all = best[l];
  }
  for (; i < n; ++i) {
    const A v = static_cast<A>(x[i]);
    if (better<kMax>(v, all)) all = v;
  }
  return all;
}

// Pieces are scanned for their best value alone; only the piece that holds the
// best is searched for its place.
template <bool kMax, class T>
int64_t place_in_row(const T* x, int64_t n) {
  using A = typename Accumulate<T>::type;
  constexpr int64_t kPiece = 1024;
  A best = static_cast<A>(x[0]);
  int64_t piece = 0;
  for (int64_t i = 0; i < n; i += kPiece) {
    const A v = best_of<kMax, T, A>(x + i, std::min(kPiece, n - i));
    if (!better<kMax>(v, best)) continue;
    best = v;
    piece = i;
  }
  for (int64_t i = piece;; ++i) {
    const A v = static_cast<A>(x[i]);
    if (v == best || (v != v && best != best)) return i;
  }
}

template <bool kMax, class T>
void places_in_columns(const T* x, int64_t rows, int64_t stride, int64_t n,
                       int64_t* to) {
  using A = typename Accumulate<T>::type;
  A best[kColumns];
  for (int64_t c = 0; c < n; ++c) {
    best[c] = static_cast<A>(x[c]);
    to[c] = 0;
  }
  for (int64_t r = 1; r < rows; ++r) {
    for (int64_t c = 0; c < n; ++c) {
      const A v = static_cast<A>(x[r * stride + c]);
      const bool take = better<kMax>(v, best[c]);
      best[c] = take ? v : best[c];
      to[c] = take ? r : to[c];
    }
  }
}

template <bool kMax, class T>
void run(const T* x, const Extent& e, int64_t* to) {
  const int64_t strips = (e.inner + kColumns - 1) / kColumns;
  const int64_t work =
      std::max<int64_t>(1, e.size * std::min(e.inner, kColumns));
  parallel_for(0, e.outer * strips, std::max<int64_t>(1, kGrain / work),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   if (e.inner == 1) {
                     to[i] = place_in_row<kMax>(x + i * e.size, e.size);
                     continue;
                   }
                   const int64_t at = i % strips * kColumns;
                   places_in_columns<kMax>(
                       x + i / strips * e.size * e.inner + at, e.size, e.inner,
                       std::min(kColumns, e.inner - at),
                       to + i / strips * e.inner + at);
                 }
               });
}

template <bool kMax>
void find(const char* op, const Tensor& self, std::optional<int64_t> dim,
          const Tensor& out) {
  Extent e;
  const int64_t at = dim ? wrap_dim(op, *dim, self.dim()) : 0;
  for (int64_t d = 0; d < self.dim(); ++d) {
    const int64_t size = self.sizes()[static_cast<size_t>(d)];
    (!dim || d == at ? e.size : d < at ? e.outer : e.inner) *= size;
  }
  SY_CHECK(e.size > 0, Index, "[", op,
           "] self: expected at least one element to choose from, got ",
           describe(self));
  if (out.numel() == 0) return;
  const Tensor x = contiguous_cpu(self);
  const Tensor places =
      out.is_contiguous() && out.dtype() == kLong
          ? out
          : Tensor(make_tensor(out.sizes(), kLong, out.device()));
  auto* to = static_cast<int64_t*>(places.data_ptr());
  visit_all_dtypes(op, self.dtype(), [&]<class T>() {
    run<kMax>(static_cast<const T*>(x.data_ptr()), e, to);
  });
  if (!places.is_same(out)) copy_cpu(out, places);
}

// The elements at the places that were found along dim.
void take(const Tensor& self, int64_t dim, const Tensor& places,
          const Tensor& values) {
  if (values.numel() == 0) return;
  const int64_t at = wrap_dim("max", dim, self.dim());
  const Tensor x = contiguous_cpu(self);
  const Tensor index = contiguous_cpu(places);
  const Tensor to =
      values.is_contiguous()
          ? values
          : Tensor(make_tensor(values.sizes(), values.dtype(), Device(kCPU)));
  int64_t size = 1, inner = 1;
  for (int64_t d = at; d < self.dim(); ++d) {
    (d == at ? size : inner) *= self.sizes()[static_cast<size_t>(d)];
  }
  const auto* k = static_cast<const int64_t*>(index.data_ptr());
  visit_element_size(self.itemsize(), [&]<class T>() {
    const auto* from = static_cast<const T*>(x.data_ptr());
    auto* y = static_cast<T*>(to.data_ptr());
    parallel_for(0, values.numel(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        y[i] = from[(i / inner * size + k[i]) * inner + i % inner];
      }
    });
  });
  if (!to.is_same(values)) copy_cpu(values, to);
}

}  // namespace

void max_dim_out(const Tensor& self, int64_t dim, bool, const Tensor& values,
                 const Tensor& indices) {
  find<true>("max", self, dim, indices);
  take(self, dim, indices, values);
}

void min_dim_out(const Tensor& self, int64_t dim, bool, const Tensor& values,
                 const Tensor& indices) {
  find<false>("min", self, dim, indices);
  take(self, dim, indices, values);
}

void argmax_out(const Tensor& self, std::optional<int64_t> dim, bool,
                const Tensor& out) {
  find<true>("argmax", self, dim, out);
}

void argmin_out(const Tensor& self, std::optional<int64_t> dim, bool,
                const Tensor& out) {
  find<false>("argmin", self, dim, out);
}

}  // namespace sy::cpu
