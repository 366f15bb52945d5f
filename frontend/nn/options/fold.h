#pragma once

#include "frontend/nn/arg.h"
#include "frontend/nn/options/expanding_array.h"

namespace sy::nn {

struct FoldOptions {
  FoldOptions(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
      : output_size_(output_size), kernel_size_(kernel_size) {}

  SY_ARG(ExpandingArray<2>, output_size);
  SY_ARG(ExpandingArray<2>, kernel_size);
  SY_ARG(ExpandingArray<2>, dilation) = 1;
  SY_ARG(ExpandingArray<2>, padding) = 0;
  SY_ARG(ExpandingArray<2>, stride) = 1;
};

struct UnfoldOptions {
  UnfoldOptions(ExpandingArray<2> kernel_size) : kernel_size_(kernel_size) {}

  SY_ARG(ExpandingArray<2>, kernel_size);
  SY_ARG(ExpandingArray<2>, dilation) = 1;
  SY_ARG(ExpandingArray<2>, padding) = 0;
  SY_ARG(ExpandingArray<2>, stride) = 1;
};

namespace functional {

using FoldFuncOptions = FoldOptions;
using UnfoldFuncOptions = UnfoldOptions;

}  // namespace functional
}  // namespace sy::nn
