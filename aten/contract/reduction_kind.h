#pragma once

#include <cstdint>

// How a loss combines the losses of the elements. The names are ATen's.
namespace sy::Reduction {

enum Reduction : int64_t { None = 0, Mean = 1, Sum = 2 };

}  // namespace sy::Reduction
