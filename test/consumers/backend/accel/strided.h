#pragma once

#include <sy/library.h>

#include "span.h"

namespace accel {

// How one tensor is walked over, broadcast to `sizes`.
struct Operand {
  Operand(const Span& t, sy::IntArrayRef sizes) {
    const size_t missing = sizes.size() - static_cast<size_t>(t.dim());
    for (size_t i = 0; i < sizes.size(); ++i) {
      const bool repeats = i < missing || t.sizes()[i - missing] == 1;
      strides[i] = repeats ? 0 : t.strides()[i - missing];
    }
  }
  int64_t strides[sy::TensorImpl::kMaxDims];
};

template <class F>
void walk(sy::IntArrayRef sizes, size_t dim, const Operand (&operands)[3],
          float* out, const float* a, const float* b, const F& f) {
  if (dim == sizes.size()) {
    *out = f(*a, *b);
    return;
  }
  for (int64_t i = 0; i < sizes[dim]; ++i) {
    walk(sizes, dim + 1, operands, out, a, b, f);
    out += operands[0].strides[dim];
    a += operands[1].strides[dim];
    b += operands[2].strides[dim];
  }
}

// out = f(a, b), element by element; a and b broadcast to out's sizes.
template <class F>
void for_each(const Span& out, const Span& a, const Span& b, const F& f) {
  if (out.numel() == 0) return;
  const sy::IntArrayRef sizes = out.sizes();
  const Operand operands[] = {{out, sizes}, {a, sizes}, {b, sizes}};
  walk(sizes, 0, operands, out.elements(), a.elements(), b.elements(), f);
}

}  // namespace accel
