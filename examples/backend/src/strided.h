#pragma once

#include <sy/library.h>

#include <array>

#include "memory.h"

namespace sample {

// Steps through a tensor as if it had other sizes: dims that it lacks, or that
// have one element, repeat.
inline std::array<int64_t, sy::TensorImpl::kMaxDims> steps(
    const sy::Tensor& t, sy::IntArrayRef sizes) {
  std::array<int64_t, sy::TensorImpl::kMaxDims> out{};
  const size_t missing = sizes.size() - static_cast<size_t>(t.dim());
  for (size_t d = missing; d < sizes.size(); ++d) {
    if (t.sizes()[d - missing] != 1) out[d] = t.strides()[d - missing];
  }
  return out;
}

// f(out, a, b) for every element of `out`, by reference; a and b broadcast.
template <class T, class F>
void for_each(const sy::Tensor& out, const sy::Tensor& a, const sy::Tensor& b,
              const F& f) {
  const sy::IntArrayRef sizes = out.sizes();
  const auto out_steps = steps(out, sizes), a_steps = steps(a, sizes),
             b_steps = steps(b, sizes);
  T* o = elements<T>(out);
  const T* x = elements<T>(a);
  const T* y = elements<T>(b);
  std::array<int64_t, sy::TensorImpl::kMaxDims> at{};
  for (int64_t n = out.numel(); n > 0; --n) {
    f(*o, *x, *y);
    for (size_t d = sizes.size(); d-- > 0;) {
      const int64_t back = ++at[d] == sizes[d] ? sizes[d] : 0;
      o += out_steps[d] - back * out_steps[d];
      x += a_steps[d] - back * a_steps[d];
      y += b_steps[d] - back * b_steps[d];
      if (back == 0) break;
      at[d] = 0;
    }
  }
}

}  // namespace sample
