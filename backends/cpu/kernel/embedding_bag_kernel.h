#pragma once

#include <cstdint>

// Sums of rows that lie anywhere in memory, compiled for each instruction set.

namespace sy::cpu {

// to[j] += weights[k] * rows[k][j] for k < count, one after the other, and j <
// n. Without weights (nullptr) they are 1. No row overlaps `to`.
template <class T>
using AddRowsFn = void (*)(const T* const* rows, const T* weights,
                           int64_t count, int64_t n, T* to);

// T is float or double.
template <class T>
AddRowsFn<T> add_rows_fn();

}  // namespace sy::cpu
