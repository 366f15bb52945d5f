#include "aten/contract/embedding_bag.h"

namespace sy {

void check_bag_mode(const char* op, int64_t mode) {
  SY_CHECK(mode >= kBagSum && mode <= kBagMax, Value,
           "[{}] mode: expected 0, 1 or 2, got {}", op, mode);
}

void check_bag_weight(const char* op, const Tensor& weight) {
  SY_CHECK(weight.is_floating_point(), Type,
           "[{}] weight: expected a floating dtype, got {}", op,
           describe(weight));
  SY_CHECK(weight.dim() == 2, Value, "[{}] weight: expected a matrix, got {}",
           op, describe(weight));
}

void check_bag_vector(const char* op, const char* argument, const Tensor& t) {
  SY_CHECK(t.dtype() == kLong || t.dtype() == kInt, Type,
           "[{}] {}: expected int32 or int64 indices, got {}", op, argument,
           describe(t));
  SY_CHECK(t.dim() == 1, Value, "[{}] {}: expected a vector, got {}", op,
           argument, describe(t));
}

void check_bag_samples(const char* op, const std::optional<Tensor>& samples,
                       const Tensor& like, const Tensor& indices,
                       int64_t mode) {
  if (!samples || !samples->defined()) return;
  SY_CHECK(mode == kBagSum, Value,
           "[{}] per_sample_weights: expected none but for mode 0, got mode {}",
           op, mode);
  SY_CHECK(samples->dtype() == like.dtype(), Type,
           "[{}] per_sample_weights: expected {}, got {}", op, like.dtype(),
           describe(*samples));
  SY_CHECK(samples->dim() == 1 && samples->numel() == indices.numel(), Value,
           "[{}] per_sample_weights: expected a weight for each of {} indices, "
           "got {}",
           op, indices.numel(), describe(*samples));
}

void check_per_bag(const char* op, const char* argument, const Tensor& t,
                   int64_t bags) {
  SY_CHECK(t.dtype() == kLong && t.dim() == 1 && t.numel() == bags, Value,
           "[{}] {}: expected an int64 for each of {} bags, got {}", op,
           argument, bags, describe(t));
}

}  // namespace sy
