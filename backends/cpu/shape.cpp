#include <algorithm>
#include <cstring>
#include <vector>

#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "aten/engine/view.h"
#include "backends/cpu/copy.h"
#include "backends/cpu/shape_kernels_gen.h"
#include "backends/cpu/support/dtype_switch.h"
#include "backends/cpu/tiles/kernels.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

// Keeps what is on one side of a diagonal of each matrix, the rest is 0.
template <bool kLower>
void triangle(const Tensor& self, int64_t diagonal, const Tensor& out) {
  const int64_t rows = self.size(-2), cols = self.size(-1);
  if (self.numel() == 0) return;
  Tensor target =
      out.is_contiguous()
          ? out
          : Tensor(make_tensor(out.sizes(), out.dtype(), Device(kCPU)));
  copy_cpu(target, self);
  const auto item = static_cast<int64_t>(target.itemsize());
  char* const to = static_cast<char*>(target.raw_data());
  parallel_for(0, target.numel() / cols, std::max<int64_t>(1, 32768 / cols),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   // The first column right of the diagonal.
                   const int64_t row = i % rows;
                   const int64_t split =
                       kLower ? (diagonal >= cols ? cols : row + diagonal + 1)
                              : (diagonal >= cols ? cols : row + diagonal);
                   const int64_t at = std::clamp<int64_t>(split, 0, cols);
                   char* p = to + i * cols * item;
                   if (kLower) {
                     std::memset(p + at * item, 0,
                                 static_cast<size_t>((cols - at) * item));
                   } else {
                     std::memset(p, 0, static_cast<size_t>(at * item));
                   }
                 }
               });
  if (!target.is_same(out)) copy_cpu(out, target);
}

// Row by row, so that the result is written from one end to the other; for rows
// of some bytes. False, with nothing done, where that is not how tensors lie.
bool cat_rows(TensorList tensors, size_t dim, const Tensor& out) {
  constexpr int64_t kLeastBytes = 64;
  if (!out.is_contiguous() || out.numel() == 0) return false;
  int64_t rows = 1, inner = static_cast<int64_t>(out.itemsize());
  for (size_t d = 0; d < out.sizes().size(); ++d) {
    (d < dim ? rows : inner) *= d == dim ? 1 : out.sizes()[d];
  }
  struct Part {
    const char* data;
    int64_t bytes;
  };
  std::vector<Part> parts;
  parts.reserve(tensors.size());
  for (const Tensor& t : tensors) {
    if (t.numel() == 0) continue;
    const int64_t bytes = t.sizes()[dim] * inner;
    if (t.dtype() != out.dtype() || !t.is_contiguous() || bytes < kLeastBytes) {
      return false;
    }
    parts.push_back({static_cast<const char*>(t.raw_data()), bytes});
  }
  const int64_t row_bytes = out.sizes()[dim] * inner;
  if (rows < 2 * get_num_threads() || rows * row_bytes >= tiles::kStreamBytes) {
    return false;
  }
  char* const to = static_cast<char*>(out.raw_data());
  parallel_for(0, rows, std::max<int64_t>(1, 131072 / row_bytes),
               [&](int64_t begin, int64_t end) {
                 char* p = to + begin * row_bytes;
                 for (int64_t i = begin; i < end; ++i) {
                   for (const Part& part : parts) {
                     std::memcpy(p, part.data + i * part.bytes,
                                 static_cast<size_t>(part.bytes));
                     p += part.bytes;
                   }
                 }
               });
  return true;
}

}  // namespace

void cat_out(TensorList tensors, int64_t dim, const Tensor& out) {
  dim = wrap_dim("cat", dim, out.dim());
  const auto along = static_cast<size_t>(dim);
  if (cat_rows(tensors, along, out)) return;
  int64_t at = 0;
  for (const Tensor& t : tensors) {
    // An empty vector goes with any sizes, as in ATen.
    if (t.dim() == 1 && t.numel() == 0 && out.dim() != 1) continue;
    const Tensor part =
        alias_without_view(out, t.sizes(), out.strides(),
                           out.storage_offset() + at * out.strides()[along]);
    copy_cpu(part, t);
    at += t.sizes()[along];
  }
}

void flip_out(const Tensor& self, IntArrayRef dims, const Tensor& out) {
  if (self.numel() == 0) return;
  uint64_t seen = 0;
  for (const int64_t d : dims) {
    const uint64_t bit = uint64_t{1} << wrap_dim("flip", d, self.dim());
    SY_CHECK((seen & bit) == 0, Value,
             "[flip] dims: expected distinct dims, got {}", dims);
    seen |= bit;
  }
  Dims strides(self.strides());
  int64_t last = 0;
  for (int d = 0; d < strides.size(); ++d) {
    if ((seen >> d & 1) == 0) continue;
    last += (self.sizes()[static_cast<size_t>(d)] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  copy_strided(self.itemsize(), self.sizes(), out.raw_data(), out.strides(),
               static_cast<const char*>(self.raw_data()) +
                   last * static_cast<int64_t>(self.itemsize()),
               strides);
}

void tril_out(const Tensor& self, int64_t diagonal, const Tensor& out) {
  triangle<true>(self, diagonal, out);
}

void triu_out(const Tensor& self, int64_t diagonal, const Tensor& out) {
  triangle<false>(self, diagonal, out);
}

}  // namespace sy::cpu
