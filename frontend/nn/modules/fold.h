#pragma once

#include "frontend/nn/module.h"
#include "frontend/nn/options/fold.h"

namespace sy::nn {

// Adds up blocks at their places in images: (N, C * kernel, blocks) to
// (N, C, output_size...), or both without N.
class SY_API FoldImpl : public Module {
 public:
  FoldImpl(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
      : FoldImpl(FoldOptions(output_size, kernel_size)) {}
  explicit FoldImpl(const FoldOptions& options) : options(options) {}

  void reset() {}
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;

  FoldOptions options;
};
SY_MODULE(Fold);

// The blocks that a convolution sees: (N, C, H, W) to (N, C * kernel, blocks),
// or both without N.
class SY_API UnfoldImpl : public Module {
 public:
  UnfoldImpl(ExpandingArray<2> kernel_size)
      : UnfoldImpl(UnfoldOptions(kernel_size)) {}
  explicit UnfoldImpl(const UnfoldOptions& options) : options(options) {}

  void reset() {}
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;

  UnfoldOptions options;
};
SY_MODULE(Unfold);

}  // namespace sy::nn
