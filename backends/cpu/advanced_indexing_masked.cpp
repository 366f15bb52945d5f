#include <algorithm>
#include <vector>

#include "aten/engine/copy.h"
#include "aten/engine/view.h"
#include "backends/cpu/advanced_indexing_kernels_gen.h"
#include "backends/cpu/indexing.h"
#include "backends/cpu/support/dtype_switch.h"
#include "backends/cpu/support/scratch.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

// Elements that are counted, then moved, as one.
constexpr int64_t kChunk = 8192;

// A mask of some sizes, with the number of true elements before each chunk.
struct CountedMask {
  CountedMask(const char* op, const Tensor& mask, IntArrayRef sizes)
      : all(contiguous_cpu(expand_for_kernel(op, mask, sizes))),
        data(static_cast<const bool*>(all.raw_data())),
        size(all.numel()),
        chunks((size + kChunk - 1) / kChunk),
        before(static_cast<size_t>(chunks) + 1) {
    parallel_for(0, chunks, 8, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        before[static_cast<size_t>(c) + 1] =
            std::count(data + c * kChunk, data + stop(c), true);
      }
    });
    for (size_t c = 1; c < before.size(); ++c) before[c] += before[c - 1];
  }
  int64_t stop(int64_t chunk) const {
    return std::min(size, (chunk + 1) * kChunk);
  }
  int64_t count() const { return before.back(); }

  // f(i, j, end): element i is the first that may be the j-th true one, the
  // elements from it on have those up to `end`.
  template <class F>
  void each_chunk(const F& f) const {
    parallel_for(0, chunks, 4, [&](int64_t begin, int64_t end) {
      for (auto c = static_cast<size_t>(begin); c < static_cast<size_t>(end);
           ++c) {
        f(static_cast<int64_t>(c) * kChunk, before[c], before[c + 1]);
      }
    });
  }

  Tensor all;
  const bool* data;
  int64_t size, chunks;
  ScratchVector<int64_t> before;
};

}  // namespace

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  const Dims sizes =
      broadcast_sizes("masked_select", self.sizes(), mask.sizes());
  const CountedMask where("masked_select", mask, sizes);
  const Tensor from =
      contiguous_cpu(expand_for_kernel("masked_select", self, sizes));
  const int64_t n[] = {where.count()};
  const Tensor out(make_tensor(n, self.dtype(), Device(kCPU)));
  visit_element_size(self.itemsize(), [&]<class T>() {
    const auto* const x = static_cast<const T*>(from.raw_data());
    auto* const y = static_cast<T*>(out.raw_data());
    // Every element is written, and stays if the next is not put in its place.
    where.each_chunk([&](int64_t i, int64_t j, int64_t end) {
      for (; j < end; ++i) {
        y[j] = x[i];
        j += where.data[i];
      }
    });
  });
  return out;
}

void masked_scatter_out(const Tensor& self, const Tensor& mask,
                        const Tensor& source, const Tensor& out) {
  const CountedMask where("masked_scatter", mask, out.sizes());
  SY_CHECK(where.count() <= source.numel(), Value,
           "[masked_scatter] source: expected at least {} elements, as many as "
           "the mask is true for, got {}",
           where.count(), describe(source));
  const Tensor from = contiguous_cpu(source);
  start_result(out, self);
  if (where.count() == 0) return;
  const Tensor to = contiguous_cpu(out);
  visit_element_size(out.itemsize(), [&]<class T>() {
    const auto* const x = static_cast<const T*>(from.raw_data());
    auto* const y = static_cast<T*>(to.raw_data());
    where.each_chunk([&](int64_t i, int64_t j, int64_t end) {
      for (; j < end; ++i) {
        // A branch would be guessed wrong too often.
        if constexpr (std::is_integral_v<T>) {
          const auto taken =
              static_cast<T>(-static_cast<int64_t>(where.data[i]));
          y[i] = static_cast<T>((x[j] & taken) | (y[i] & ~taken));
        } else {
          const T* const from_either[] = {y + i, x + j};
          y[i] = *from_either[where.data[i] ? 1 : 0];
        }
        j += where.data[i];
      }
    });
  });
  if (!to.is_same(out)) copy_cpu(out, to);
}

}  // namespace sy::cpu
