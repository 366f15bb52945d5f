#include "aten/contract/embedding_bag.h"

namespace sy {

void check_bag_mode(const char* op, int64_t mode) {
  SY_CHECK(mode >= kBagSum && mode <= kBagMax, Value, "[", op,
           "] mode: expected 0, 1 or 2, got ", mode);
}

void check_bag_weight(const char* op, const Tensor& weight) {
  SY_CHECK(weight.is_floating_point(), Type, "[", op,
           "] weight: expected a floating dtype, got ", describe(weight));
  SY_CHECK(weight.dim() == 2, Value, "[", op,
           "] weight: expected a matrix, got ", describe(weight));
}

void check_bag_vector(const char* op, const char* argument, const Tensor& t) {
  SY_CHECK(t.dtype() == kLong || t.dtype() == kInt, Type, "[", op, "] ",
           argument, ": expected int32 or int64 indices, got ", describe(t));
  SY_CHECK(t.dim() == 1, Value, "[", op, "] ", argument,
           ": expected a vector, got ", describe(t));
}

void check_bag_samples(const char* op, const std::optional<Tensor>& samples,
                       const Tensor& like, const Tensor& indices,
                       int64_t mode) {
  if (!samples || !samples->defined()) return;
  SY_CHECK(mode == kBagSum, Value, "[", op,
           "] per_sample_weights: expected none but for mode 0, got mode ",
           mode);
  SY_CHECK(samples->dtype() == like.dtype(), Type, "[", op,
           "] per_sample_weights: expected ", like.dtype(), ", got ",
           describe(*samples));
  SY_CHECK(samples->dim() == 1 && samples->numel() == indices.numel(), Value,
           "[", op, "] per_sample_weights: expected a weight for each of ",
           indices.numel(), " indices, got ", describe(*samples));
}

void check_per_bag(const char* op, const char* argument, const Tensor& t,
                   int64_t bags) {
  SY_CHECK(t.dtype() == kLong && t.dim() == 1 && t.numel() == bags, Value, "[",
           op, "] ", argument, ": expected an int64 for each of ", bags,
           " bags, got ", describe(t));
}

}  // namespace sy
