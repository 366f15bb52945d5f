#pragma once

#include "launch_head.cuh"

// Arguments of the kernels of products and convolutions, for the host and for
// kernels. Strides are in elements.

namespace sy::cuda {

// How the terms of products are cut: there are `groups` products of m x n, each
// a sum of k terms. A block adds `step` terms; then the sums of the `parts`
// pieces are added, in order.
struct Cut {
  long long m, n, k;
  long long groups;
  long long parts, step;
  void* sums;  // [parts][groups][m][n]; not used for one part
};

struct MatrixOperand {
  const void* data;
  long long group, row, column;
};

// c = alpha a b + beta d; without `added` d is not read.
struct ProductParams {
  LaunchHead head;
  Cut cut;
  MatrixOperand a, b, added;
  void* c;  // contiguous
  double alpha, beta;
  long long whole_alpha, whole_beta;  // for integers
};

constexpr int kSpaceDims = 3;

// ConvolutionGeometry, with strides: x (batch, group, channel, place), w
// (output, channel, tap), y as x.
struct ConvolutionParams {
  LaunchHead head;
  Cut cut;
  int groups;  // groups of channels
  int group_in, group_out;
  int x_size[kSpaceDims], y_size[kSpaceDims], kernel[kSpaceDims];
  int stride[kSpaceDims], padding[kSpaceDims], dilation[kSpaceDims];
  long long x_stride[kSpaceDims], y_stride[kSpaceDims], w_stride[kSpaceDims];
  long long x_batch, x_channel, y_batch, y_channel, w_output, w_channel;
  const void *x, *w, *y;
  const void* bias;  // one for each channel of the result, or nullptr
  long long bias_stride;
  void* out;
};

}  // namespace sy::cuda
