#pragma once

#include <optional>
#include <tuple>

#include "aten/tensor.h"

// The negative log-likelihood of rows of scores, made of gather and scatter.
namespace sy::composite {

// Returns the loss and the sum of the weights. With `each` the loss has the
// sizes of target and the sum is 0; else `reduction` reduces the loss.
std::tuple<Tensor, Tensor> nll_of_rows(const Tensor& scores,
                                       const Tensor& target,
                                       const std::optional<Tensor>& weight,
                                       int64_t reduction, int64_t ignore_index,
                                       bool each);

// The gradient of `scores`.
Tensor nll_of_rows_backward(const Tensor& grad_output, const Tensor& scores,
                            const Tensor& target,
                            const std::optional<Tensor>& weight,
                            int64_t reduction, int64_t ignore_index,
                            const Tensor& total_weight);

}  // namespace sy::composite
