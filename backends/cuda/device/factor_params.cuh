#pragma once

#include "launch_head.cuh"

namespace sy::cuda {

// Matrices that lie at equal distances. Strides are in elements.
struct FactorMatrix {
  char* data;
  long long batch, row, column;
};

// Arguments of kernels that factor matrices in place. One block has one matrix.
struct FactorParams {
  LaunchHead head;
  FactorMatrix a;
  int rows, columns;
  int pivot;    // lu: whether rows are exchanged
  int* pivots;  // lu: min(rows, columns) for each matrix
  int* info;    // one for each matrix
};

// Arguments of the kernel that solves A X = B, with B in X at first. One block
// has one column of X.
struct TriangleParams {
  LaunchHead head;
  FactorMatrix a, x;
  int rows, columns;  // of X
  int upper, unit;
};

}  // namespace sy::cuda
