#pragma once

#include <cstdint>
#include <vector>

#include "aten/tensor.h"

namespace sy::composite {

// Reads the numbers of an int64 vector on any device, for an operator that
// needs them to know the sizes of its results. Throws ValueError for other
// tensors and for empty ones, NotImplementedError on Meta.
std::vector<int64_t> host_numbers(const char* op, const char* argument,
                                  const Tensor& t);

// The number of sequences in each step of a packed batch. Throws what
// host_numbers does, and ValueError unless the numbers are positive, never rise
// and add up to `total`, the number of rows.
std::vector<int64_t> batch_sizes_of(const char* op, const Tensor& batch_sizes,
                                    int64_t total);

}  // namespace sy::composite
