#pragma once

#include <optional>

#include "aten/tensor.h"

// What embedding bags of every backend check. Errors are
// "[op] argument: expected X, got Y".

namespace sy {

enum BagMode : int64_t { kBagSum = 0, kBagMean = 1, kBagMax = 2 };

SY_API void check_bag_mode(const char* op, int64_t mode);
// A matrix of a floating dtype.
SY_API void check_bag_weight(const char* op, const Tensor& weight);
// A vector of int32 or int64.
SY_API void check_bag_vector(const char* op, const char* argument,
                             const Tensor& t);
// Of `samples`, if they are there: of the dtype of `like`, one for each index,
// and for sums only.
SY_API void check_bag_samples(const char* op,
                              const std::optional<Tensor>& samples,
                              const Tensor& like, const Tensor& indices,
                              int64_t mode);
// An int64 for each bag.
SY_API void check_per_bag(const char* op, const char* argument, const Tensor& t,
                          int64_t bags);

}  // namespace sy
