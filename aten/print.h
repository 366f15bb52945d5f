#pragma once

#include <iosfwd>
#include <string>

#include "aten/tensor.h"

namespace sy {

// The elements as PyTorch's C++ library prints them, in lines of at most 80
// characters (wider ones in groups of columns), then "[ CPUFloatType{2,3} ]".
// Copies tensors of other devices to the host. Meta tensors have the last line
// only. Undefined tensors are allowed.
SY_API std::string to_string(const Tensor& t);
SY_API std::ostream& operator<<(std::ostream& stream, const Tensor& t);

}  // namespace sy
