#pragma once

#include "aten/tensor.h"

// Elements where a mask is true, in row-major order.

namespace sy::cuda {

// How many elements are not 0, on the device: `before` has their number before
// each tile of kCompactTile elements, and in all.
struct CountedMask {
  Tensor mask;    // expanded
  Tensor before;  // int64
  int64_t tiles = 0;
};
CountedMask count_true(const Tensor& mask);
// Waits for the device.
int64_t number_true(const CountedMask& m);

// The places of the first true elements, one a row of `to`, a contiguous int64
// matrix. `all`: it has as many rows as there are.
void write_places(const CountedMask& m, const Tensor& to, bool all);
// row[j] = spread[i], or the other way, for the j-th true element i. `spread`
// has the sizes of the mask, of bools; `row` is contiguous.
void select_true(const CountedMask& m, const Tensor& spread, const Tensor& row);
void spread_true(const CountedMask& m, const Tensor& row, const Tensor& spread);

}  // namespace sy::cuda
