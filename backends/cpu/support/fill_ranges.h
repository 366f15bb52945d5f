#pragma once

#include "aten/engine/copy.h"
#include "aten/engine/guard.h"
#include "c10/process/parallel.h"

// For kernels that compute each element from its index.

namespace sy::cpu {

constexpr int64_t kGenerateGrain = 32768;

// Makes `out` a vector of n elements if it has another number of elements.
inline void resize_vector(const char* op, Tensor& out, int64_t n) {
  if (out.numel() != n) resize_output(op, out, n);
}

// Calls f(to, begin, end) for ranges of all elements, in parallel. f writes the
// elements [begin, end) of `to`, a contiguous array of the elements of out.
template <class T, class F>
void generate_ranges(Tensor& out, const F& f) {
  Tensor target =
      out.is_contiguous()
          ? out
          : Tensor(make_tensor(out.sizes(), out.dtype(), Device(kCPU)));
  T* const to = static_cast<T*>(target.raw_data());
  parallel_for(0, target.numel(), kGenerateGrain,
               [&](int64_t begin, int64_t end) { f(to, begin, end); });
  if (!target.is_same(out)) copy_cpu(out, target);
}

// out[i] = f(i), in the order of out's elements.
template <class T, class F>
void generate(Tensor& out, const F& f) {
  generate_ranges<T>(out, [&](T* to, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = static_cast<T>(f(i));
  });
}

}  // namespace sy::cpu
