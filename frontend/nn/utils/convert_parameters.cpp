#include "frontend/nn/utils/convert_parameters.h"

#include "aten/operators.h"
#include "aten/ops/shape.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/nn/tensors.h"

namespace sy::nn::utils {

Tensor parameters_to_vector(TensorList parameters) {
  SY_CHECK(!parameters.empty(), Value,
           "[parameters_to_vector] parameters: expected at least one");
  std::vector<Tensor> flat;
  for (const Tensor& p : parameters) {
    SY_CHECK(p.device() == parameters[0].device(), Value,
             "[parameters_to_vector] parameters: expected all on one device, "
             "got {} and {}",
             parameters[0].device(), p.device());
    flat.push_back(p.reshape({-1}));
  }
  return cat(flat);
}

void vector_to_parameters(const Tensor& vector, TensorList parameters) {
  int64_t count = 0;
  for (const Tensor& p : parameters) count += p.numel();
  SY_CHECK(vector.dim() == 1 && vector.numel() == count, Value,
           "[vector_to_parameters] vector: expected sizes [{}], got {}", count,
           vector.sizes());
  const NoGradGuard no_grad;
  const Tensor data = vector.detach();
  int64_t begin = 0;
  for (const Tensor& p : parameters) {
    const Tensor part = data.slice(0, begin, begin + p.numel());
    begin += p.numel();
    nn::detail::set_data(p, part.view(p.sizes()));
  }
}

}  // namespace sy::nn::utils
