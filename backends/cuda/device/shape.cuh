#pragma once

#include "launch_head.cuh"
#include "walk.cuh"

// Arguments of the kernels of shape.cu.

namespace sy::cuda {

// Keeps the elements of matrices on one side of a diagonal, the rest is 0.
// Column c of row r is kept if c - r is at most (at least, with `upper`) the
// diagonal.
struct TriangleParams {
  LaunchHead head;
  Walk<2> walk;  // to, from; in row-major order
  char* to;
  const char* from;
  long long rows, columns, diagonal;
  int upper;
};

// Tensors one behind the other along a dim: rows of items, of which each tensor
// has `width`, from `first` of the result's `row` on.
constexpr int kCatTensors = 64;
struct CatPart {
  const char* data;
  long long first, width;
};
struct CatParams {
  LaunchHead head;
  char* to;
  long long rows, row;
  CatPart parts[kCatTensors];
};

}  // namespace sy::cuda
