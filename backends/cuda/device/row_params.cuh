#pragma once

#include "launch_head.cuh"

// The arguments of kernels that keep a row (device/row.cuh), for the host and
// for kernels.

namespace sy::cuda {

constexpr int kRowThreads = 1024;  // at most

// Rows of `length` elements, one after the other, or columns of as many,
// `inner` apart.
struct RowHead {
  LaunchHead head;
  long long rows, length, inner;
  int lanes;     // threads of a row, a power of two
  int resident;  // rows stay in dynamic shared memory
  int packs;     // elements are accessed 16 bytes at a time
  int log;       // log_softmax
};

struct SoftmaxParams : RowHead {
  const void* x;   // in the backward: the output
  const void* dy;  // in the backward alone
  void* y;
};

// Floats of any dtype, one for each row or column; null if there are none.
struct AnyFloats {
  const void* data;
  int kind;  // 0: float, 1: double, 2: half, 3: bfloat16
};

struct NormParams : RowHead {
  const void* x;
  AnyFloats weight, bias;
  void* y;
  AnyFloats mean, rstd;  // are written; no mean: nothing is centered
  double eps;
};

struct NormGradParams : RowHead {
  const void *dy, *x;
  AnyFloats weight, mean, rstd, grad_mean, grad_rstd;
  void* dx;
};

// The gradients of weight and bias: sums over rows, in pieces, then over
// pieces.
struct NormSumParams : RowHead {
  const void *dy, *x;
  AnyFloats mean, rstd;
  double *weight_sums, *bias_sums;  // [pieces][length]; may be null
  AnyFloats weight, bias;           // the gradients
  long long piece, pieces;
};

}  // namespace sy::cuda
