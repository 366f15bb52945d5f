#pragma once

#include <string>

#include "aten/tensor.h"

namespace sy::autograd {

// The recorded graph of `tensors`, in the DOT language of graphviz: operations
// with the sizes and dtypes of their results, the tensors that each keeps for
// its gradient with their bytes, leaves, and the sum of the bytes (each storage
// counts once). Edges point the way gradients flow. Throws ValueError for
// tensors without a history.
SY_API std::string dot(TensorList tensors);

// The same as an SVG picture, drawn by the program `dot`. Throws
// NotImplementedError if there is none on PATH.
SY_API std::string svg(TensorList tensors);

}  // namespace sy::autograd
