#include <algorithm>
#include <cstring>

#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "aten/engine/view.h"
#include "backends/cpu/rearranging_kernels_gen.h"
#include "backends/cpu/tiles/kernels.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

// Copies the two parts that a dim falls into, for each of the dims from d on.
void roll_from(const Tensor& self, const int64_t* shifts, int d,
               const Tensor& out) {
  while (d < self.dim() && shifts[d] == 0) ++d;
  if (d == self.dim()) return copy_cpu(out, self);
  const auto part = [d](const Tensor& t, int64_t start, int64_t size) {
    Dims sizes(t.sizes());
    sizes[d] = size;
    return alias_without_view(t, sizes, t.strides(),
                              t.storage_offset() + start * t.stride(d));
  };
  const int64_t size = self.size(d), shift = shifts[d], rest = size - shift;
  roll_from(part(self, 0, rest), shifts, d + 1, part(out, shift, rest));
  roll_from(part(self, rest, shift), shifts, d + 1, part(out, 0, shift));
}

// Rolls contiguous tensors along one dim: both parts of a row, then the next
// row, so that the result is written from one end to the other. False, with
// nothing done, if there are too few rows or the caches do not hold them.
bool roll_rows(const Tensor& self, const int64_t* shifts, const Tensor& out) {
  const auto n = static_cast<int>(self.dim());
  int d = 0;
  while (d < n && shifts[d] == 0) ++d;
  if (d == n || std::any_of(shifts + d + 1, shifts + n,
                            [](int64_t shift) { return shift != 0; })) {
    return false;
  }
  int64_t rows = 1, inner = static_cast<int64_t>(self.itemsize());
  for (int k = 0; k < n; ++k)
    (k < d ? rows : inner) *= k == d ? 1 : self.size(k);
  const int64_t row_bytes = self.size(d) * inner, moved = shifts[d] * inner;
  if (!self.is_contiguous() || !out.is_contiguous() ||
      rows < 2 * get_num_threads() || rows * row_bytes >= tiles::kStreamBytes) {
    return false;
  }
  const char* const from = static_cast<const char*>(self.raw_data());
  char* const to = static_cast<char*>(out.raw_data());
  parallel_for(
      0, rows, std::max<int64_t>(1, 131072 / row_bytes),
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin * row_bytes; i < end * row_bytes;
             i += row_bytes) {
          const int64_t rest = row_bytes - moved;
          std::memcpy(to + i, from + i + rest, static_cast<size_t>(moved));
          std::memcpy(to + i + moved, from + i, static_cast<size_t>(rest));
        }
      });
  return true;
}

}  // namespace

void roll_out(const Tensor& self, IntArrayRef shifts, IntArrayRef dims,
              const Tensor& out) {
  if (self.numel() == 0) return;
  const auto along = [](int64_t shift, int64_t size) {
    const int64_t rest = shift % size;
    return rest < 0 ? rest + size : rest;
  };
  if (dims.empty()) {
    const Tensor flat = contiguous_cpu(self);
    const int64_t n = flat.numel(), one = 1;
    const Tensor target =
        out.is_contiguous()
            ? out
            : Tensor(make_tensor(out.sizes(), out.dtype(), Device(kCPU)));
    const int64_t shift = along(shifts[0], n);
    roll_from(alias_without_view(flat, n, one, flat.storage_offset()), &shift,
              0, alias_without_view(target, n, one, target.storage_offset()));
    if (!target.is_same(out)) copy_cpu(out, target);
    return;
  }
  Dims amount;
  for (int64_t d = 0; d < self.dim(); ++d) amount.push_back(0);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (self.dim() == 0) break;
    const int64_t d = wrap_dim("roll", dims[i], self.dim());
    const int64_t size = self.size(d);
    amount[d] = along(amount[d] + along(shifts[i], size), size);
  }
  if (roll_rows(self, amount.data(), out)) return;
  roll_from(self, amount.data(), 0, out);
}

}  // namespace sy::cpu
