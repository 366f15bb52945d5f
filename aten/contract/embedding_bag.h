#pragma once

#include <optional>

#include "aten/tensor.h"

// Checks of embedding bags, shared by all backends. Errors are "[op] argument:
// expected X, got Y".

namespace sy {

enum BagMode : int64_t { kBagSum = 0, kBagMean = 1, kBagMax = 2 };

SY_API void check_bag_mode(const char* op, int64_t mode);
// The weight must be a matrix of a floating dtype.
SY_API void check_bag_weight(const char* op, const Tensor& weight);
// `t` must be a vector of int32 or int64.
SY_API void check_bag_vector(const char* op, const char* argument,
                             const Tensor& t);
// `samples`, if given, must be a vector of the dtype of `like` with one element
// for each index. They are allowed for sums only.
SY_API void check_bag_samples(const char* op,
                              const std::optional<Tensor>& samples,
                              const Tensor& like, const Tensor& indices,
                              int64_t mode);
// `t` must be a vector with an int64 for each bag.
SY_API void check_per_bag(const char* op, const char* argument, const Tensor& t,
                          int64_t bags);

}  // namespace sy
