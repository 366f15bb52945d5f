#pragma once

#include <cstdint>
#include <type_traits>

// The inner loops of pooling, resizing and sampling: rows of contiguous
// elements, compiled for each instruction set. Rows do not overlap.

namespace sy::cpu {

// An index as wide as T, so that vectors of both have the same lanes.
template <class T>
using IndexAsWide = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

template <class T>
struct RowKernels {
  using Index = IndexAsWide<T>;
  // to[i] += from[i]
  void (*add)(const T* from, int64_t n, T* to);
  // best[i] = the larger of best[i] and from[i * step]. If the latter is taken,
  // at[i] = first + i * index_step. NaN is the largest. The first of equal
  // elements is taken, the last of NaNs.
  void (*max)(const T* from, int64_t step, int64_t n, Index first,
              Index index_step, T* best, Index* at);
  // The same without places.
  void (*largest)(const T* from, int64_t step, int64_t n, T* best);
  // to[i] = sum over k of weights[k] * rows[k][i]
  void (*combine)(const T* const* rows, const T* weights, int64_t taps,
                  int64_t n, T* to);
  // to[i] += weight * from[i]
  void (*add_scaled)(const T* from, T weight, int64_t n, T* to);
  // The sum of a[i] * b[i].
  T (*dot)(const T* a, const T* b, int64_t n);
  // to[i] = sum over k of weights[k * pitch + i] * from[at[k * pitch + i]].
  // Taps with a negative index are skipped. Without weights they are 1.
  void (*gather)(const T* from, const Index* at, const T* weights, int64_t taps,
                 int64_t pitch, int64_t n, T* to);
};

// T is float or double; int64_t has add, max and largest only.
template <class T>
const RowKernels<T>& row_kernels();

}  // namespace sy::cpu
