#pragma once

#include <memory>

#include "aten/tensor.h"

namespace sy::compiling {

// A tensor of the program, held once for all graphs that know it: if nobody
// else holds it, the code cannot reach it any more. Thread-safe.
std::shared_ptr<const Tensor> kept(const Tensor& t);

}  // namespace sy::compiling
