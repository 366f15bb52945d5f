#pragma once

#include <optional>
#include <tuple>

#include "aten/tensor.h"

// The negative log-likelihood of rows of scores, made of gather and scatter.
namespace sy::composite {

// The loss of each row in the sizes of target if `each`, else what `reduction`
// makes of them; and the sum of the weights, 0 if `each`.
std::tuple<Tensor, Tensor> nll_of_rows(const Tensor& scores,
                                       const Tensor& target,
                                       const std::optional<Tensor>& weight,
                                       int64_t reduction, int64_t ignore_index,
                                       bool each);

// The gradient of the scores, in rows as they are.
Tensor nll_of_rows_backward(const Tensor& grad_output, const Tensor& scores,
                            const Tensor& target,
                            const std::optional<Tensor>& weight,
                            int64_t reduction, int64_t ignore_index,
                            const Tensor& total_weight);

}  // namespace sy::composite
