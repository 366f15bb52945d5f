#pragma once

#include <cstdint>

// What a loss does with the losses of the elements; ATen's names.
namespace sy::Reduction {

enum Reduction : int64_t { None = 0, Mean = 1, Sum = 2 };

}  // namespace sy::Reduction
