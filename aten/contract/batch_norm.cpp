#include "aten/contract/batch_norm.h"

namespace sy {

namespace {

void check_parameter(const char* op, const char* name, const Tensor& t,
                     int64_t channels, ScalarType dtype) {
  if (!t.defined()) return;
  SY_CHECK(t.dtype() == dtype, Type, "[{}] {}: expected dtype {}, got {}", op,
           name, dtype, t.dtype());
  SY_CHECK(t.dim() == 1 && t.sizes()[0] == channels, Value,
           "[{}] {}: expected sizes [{}], one for each channel, got {}", op,
           name, channels, t.sizes());
}

}  // namespace

ScalarType check_batch_norm(const char* op, const BatchNormArgs& args) {
  const Tensor& input = args.input;
  SY_CHECK(is_floating_type(input.dtype()), Type,
           "[{}] input: expected a floating dtype, got {}", op, input.dtype());
  SY_CHECK(input.dim() >= 2, Value,
           "[{}] input: expected at least 2 dims, got {}", op, input.sizes());
  const int64_t channels = input.sizes()[1];
  ScalarType dtype = input.dtype();
  if (dtype == kHalf || dtype == kBFloat16) {
    for (const Tensor* t :
         {&args.weight, &args.bias, &args.running_mean, &args.running_var}) {
      if (t->defined() && t->dtype() == kFloat) dtype = kFloat;
    }
  }
  check_parameter(op, "weight", args.weight, channels, dtype);
  check_parameter(op, "bias", args.bias, channels, dtype);
  check_parameter(op, "running_mean", args.running_mean, channels, dtype);
  check_parameter(op, "running_var", args.running_var, channels, dtype);
  if (!args.training) {
    SY_CHECK(
        args.running_mean.defined() && args.running_var.defined(), Value,
        "[{}] running_mean: expected running statistics, as training is off",
        op);
  } else {
    SY_CHECK(input.numel() > 0, Value,
             "[{}] input: expected at least one element in training, got {}",
             op, input.sizes());
  }
  return dtype;
}

void check_batch_norm_grad(const char* op, const Tensor& grad_out,
                           const BatchNormArgs& args, const Tensor& save_mean,
                           const Tensor& save_invstd) {
  const ScalarType dtype = check_batch_norm(op, args);
  const Tensor& input = args.input;
  SY_CHECK(grad_out.sizes() == input.sizes(), Value,
           "[{}] grad_out: expected {}, the sizes of input, got {}", op,
           input.sizes(), grad_out.sizes());
  SY_CHECK(grad_out.dtype() == input.dtype(), Type,
           "[{}] grad_out: expected dtype {}, got {}", op, input.dtype(),
           grad_out.dtype());
  if (!args.training) return;
  SY_CHECK(save_mean.defined() && save_invstd.defined(), Value,
           "[{}] save_mean: expected saved statistics, as training is on", op);
  check_parameter(op, "save_mean", save_mean, input.sizes()[1], dtype);
  check_parameter(op, "save_invstd", save_invstd, input.sizes()[1], dtype);
}

void note_running_write(const OperatorEntry& op, const Tensor& running) {
  if (!running.defined() || running.impl()->is_inference()) return;
  running.impl()->bump_version(&op);
}

}  // namespace sy
