#pragma once

#include <vector>

#include "aten/tensor.h"

namespace sy::nn::utils {

// All elements of all parameters in one dim; gradients flow through it. Throws
// ValueError if there are none, or if their devices differ.
SY_API Tensor parameters_to_vector(TensorList parameters);

// Makes each parameter a part of the vector: they share its memory afterwards.
// Throws ValueError if the vector has another number of elements.
SY_API void vector_to_parameters(const Tensor& vector, TensorList parameters);

}  // namespace sy::nn::utils
