#pragma once

#include <cstdint>
#include <vector>

#include "aten/tensor.h"

namespace sy::composite {

// The numbers of an int64 vector of any device, which an operator needs before
// it knows the sizes of its results. Throws ValueError for other tensors and
// empty ones, NotImplementedError on Meta.
std::vector<int64_t> host_numbers(const char* op, const char* argument,
                                  const Tensor& t);

// How many sequences of a packed batch have each step. Throws ValueError too
// unless they are positive, do not rise and add up to `total`, its rows.
std::vector<int64_t> batch_sizes_of(const char* op, const Tensor& batch_sizes,
                                    int64_t total);

}  // namespace sy::composite
