#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "aten/tensor.h"
#include "frontend/distributed/process_group.h"

// Hooks average the gradients of a bucket over the ranks, where a plain
// all-reduce is not wanted: in fewer bits, or fewer numbers.

namespace sy::distributed {

// The gradients of a few parameters, at the moment when all of them are there.
class SY_API GradBucket {
 public:
  GradBucket(size_t index, size_t count, Tensor buffer,
             std::vector<Tensor> gradients,
             const std::vector<std::string>& names, ProcessGroup& group)
      : index_(index),
        count_(count),
        buffer_(std::move(buffer)),
        gradients_(std::move(gradients)),
        names_(names),
        group_(group) {}

  // Buckets of one backward go in this order, the same on all ranks. After the
  // first backward they may be others.
  size_t index() const noexcept { return index_; }
  size_t count() const noexcept { return count_; }
  bool is_last() const noexcept { return index_ + 1 == count_; }
  // All gradients, flat, with gaps of zeros. The average belongs there.
  const Tensor& buffer() const noexcept { return buffer_; }
  // The same memory by parameter.
  const std::vector<Tensor>& gradients() const noexcept { return gradients_; }
  const std::vector<std::string>& names() const noexcept { return names_; }
  ProcessGroup& group() const noexcept { return group_; }

 private:
  size_t index_, count_;
  Tensor buffer_;
  std::vector<Tensor> gradients_;
  const std::vector<std::string>& names_;
  ProcessGroup& group_;
};

// Begins the exchange of a bucket with calls of its group, without waiting for
// other ranks where it can, and returns what ends it: backward calls that after
// its last node, bucket by bucket. All ranks must make the same calls, also
// where it throws; else later calls of the group do not match and throw.
// Recording is off. Backward throws what either throws.
using CommHook = std::function<std::function<void()>(GradBucket& bucket)>;

// A hook that returns a Work, which is waited for, or nothing.
template <class F>
CommHook make_comm_hook(F f) {
  using R = std::invoke_result_t<F&, GradBucket&>;
  if constexpr (std::is_void_v<R>) {
    return [f = std::move(f)](GradBucket& b) mutable -> std::function<void()> {
      f(b);
      return {};
    };
  } else if constexpr (std::same_as<R, Work>) {
    return [f = std::move(f)](GradBucket& b) mutable -> std::function<void()> {
      return [work = f(b)] { work.wait(); };
    };
  } else {
    return CommHook(std::move(f));
  }
}

// The average in the gradients' own dtype: what is done without a hook.
SY_API CommHook allreduce_hook();
// Gradients are divided by the number of ranks, sent and added as bfloat16, or
// half. half overflows above 65504.
SY_API CommHook bf16_compress_hook();
SY_API CommHook fp16_compress_hook();

struct PowerSGDOptions {
  // Each gradient of n x m elements is sent as rank * (n + m) numbers.
  int64_t rank = 1;
  // Buckets of the first steps are sent as they are: gradients change fastest
  // then, and buckets are made anew.
  int64_t start_after = 10;
  // Gradients that would not shrink by this factor are sent as they are.
  double least_compression = 2;
  // Adds what was lost to the next gradient. Without it, training of most
  // models does not converge.
  bool error_feedback = true;
  // Each step begins with the factors of the last one.
  bool warm_start = true;
  uint64_t seed = 0;  // the same on all ranks
};

// Gradients as products of two thin matrices (Vogels and others, 2019). Keeps
// state from step to step: one hook for one model.
SY_API CommHook powersgd_hook(const PowerSGDOptions& options = {});

}  // namespace sy::distributed
