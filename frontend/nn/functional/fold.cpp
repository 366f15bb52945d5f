#include "frontend/nn/functional/fold.h"

#include "aten/ops/image.h"

namespace sy::nn::functional {

Tensor fold(const Tensor& input, const FoldFuncOptions& o) {
  return sy::col2im(input, o.output_size(), o.kernel_size(), o.dilation(),
                    o.padding(), o.stride());
}

Tensor unfold(const Tensor& input, const UnfoldFuncOptions& o) {
  return sy::im2col(input, o.kernel_size(), o.dilation(), o.padding(),
                    o.stride());
}

}  // namespace sy::nn::functional
