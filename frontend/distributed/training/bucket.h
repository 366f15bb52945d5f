#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "aten/tensor.h"

// Gradients that go to the other ranks together. Nothing here is public.

namespace sy::distributed {

// A parameter whose gradient is averaged over the ranks.
struct TrainedParameter {
  std::string name;
  Tensor tensor;
};

// The numbers of the parameters in each bucket.
using BucketPlan = std::vector<std::vector<size_t>>;

// How large buckets are; DataParallelOptions has the rule.
struct BucketSizes {
  size_t first, others;
};
BucketSizes choose_sizes(std::span<const TrainedParameter> parameters,
                         size_t first_bucket_bytes, size_t bucket_bytes);

// Fills buckets of one dtype and device each in the order given. A bucket is
// full when it has at least `others` bytes, the first of a dtype and device
// `first`. The last of them is cut so that its end has at most `first`, or one
// gradient. Buckets stand in the order in which they begin.
BucketPlan plan_buckets(std::span<const TrainedParameter> parameters,
                        std::span<const size_t> order,
                        const BucketSizes& sizes);

// "fc1.weight, fc1.bias, …": at most `most` names.
std::string list_names(std::span<const TrainedParameter> parameters,
                       std::span<const size_t> which, size_t most);

// One piece of memory for the gradients of some parameters, laid out as the
// parameters are, each at a multiple of 64 bytes. `tail` numbers of the
// reducer's own follow them. All is zero at first.
class Bucket {
 public:
  Bucket(std::span<const TrainedParameter> parameters,
         std::vector<size_t> members, size_t tail);

  const std::vector<size_t>& members() const noexcept { return members_; }
  // The view of members()[i].
  const Tensor& view(size_t i) const noexcept { return views_[i]; }
  const Tensor& everything() const noexcept { return everything_; }
  const Tensor& gradients() const noexcept { return gradients_; }
  const Tensor& tail() const noexcept { return tail_; }

 private:
  std::vector<size_t> members_;
  std::vector<Tensor> views_;
  Tensor everything_, gradients_, tail_;
};

// Whether a gradient lies where the view does.
bool is_the_view(const Tensor& gradient, const Tensor& view);

}  // namespace sy::distributed
