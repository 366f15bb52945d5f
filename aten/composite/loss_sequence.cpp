#include <algorithm>
#include <cmath>

#include "aten/composite/recurrent_packed_sequence.h"
#include "aten/contract/reduction_kind.h"
#include "aten/engine/guard.h"
#include "aten/operators.h"
#include "aten/ops/comparison.h"
#include "aten/ops/loss_sequence.h"
#include "aten/ops/loss_sequence_kernels.h"
#include "aten/tensor_new.h"

namespace sy::composite {

namespace {

std::vector<int64_t> lengths_of(const char* op, const char* argument,
                                const Tensor& t) {
  SY_CHECK(t.dtype() == kLong || t.dtype() == kInt, Value,
           "[{}] {}: expected int64 or int32 lengths, got {}", op, argument,
           describe(t));
  return host_numbers(op, argument, t.dtype() == kLong ? t : t.to(kLong));
}

}  // namespace

Tensor ctc_loss_lists(const Tensor& log_probs, const Tensor& targets,
                      IntArrayRef input_lengths, IntArrayRef target_lengths,
                      int64_t blank, int64_t reduction, bool zero_infinity) {
  SY_CHECK(reduction >= Reduction::None && reduction <= Reduction::Sum, Value,
           "[ctc_loss] reduction: expected none, mean or sum, got {}",
           reduction);
  const bool batched = log_probs.dim() != 2;
  Tensor each = std::get<0>(
      sy::_ctc_loss(batched ? log_probs : log_probs.unsqueeze(1), targets,
                    input_lengths, target_lengths, blank, zero_infinity));
  if (zero_infinity) {
    each = each.masked_fill(sy::eq(each, Scalar(HUGE_VAL)), Scalar(0));
  }
  if (reduction == Reduction::Sum) return each.sum();
  if (reduction == Reduction::None) return batched ? each : each.squeeze(0);
  std::vector<double> labels;
  for (const int64_t n : target_lengths) {
    labels.push_back(static_cast<double>(std::max<int64_t>(n, 1)));
  }
  return (each / sy::tensor(labels, each.options())).mean();
}

Tensor ctc_loss_tensors(const Tensor& log_probs, const Tensor& targets,
                        const Tensor& input_lengths,
                        const Tensor& target_lengths, int64_t blank,
                        int64_t reduction, bool zero_infinity) {
  return sy::ctc_loss(log_probs, targets,
                      lengths_of("ctc_loss", "input_lengths", input_lengths),
                      lengths_of("ctc_loss", "target_lengths", target_lengths),
                      blank, reduction, zero_infinity);
}

std::tuple<Tensor, Tensor> ctc_loss_forward_tensors(
    const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
    const Tensor& target_lengths, int64_t blank, bool zero_infinity) {
  return sy::_ctc_loss(
      log_probs, targets,
      lengths_of("_ctc_loss", "input_lengths", input_lengths),
      lengths_of("_ctc_loss", "target_lengths", target_lengths), blank,
      zero_infinity);
}

Tensor ctc_loss_backward_tensors(const Tensor& grad, const Tensor& log_probs,
                                 const Tensor& targets,
                                 const Tensor& input_lengths,
                                 const Tensor& target_lengths,
                                 const Tensor& neg_log_likelihood,
                                 const Tensor& log_alpha, int64_t blank,
                                 bool zero_infinity) {
  return sy::_ctc_loss_backward(
      grad, log_probs, targets,
      lengths_of("_ctc_loss_backward", "input_lengths", input_lengths),
      lengths_of("_ctc_loss_backward", "target_lengths", target_lengths),
      neg_log_likelihood, log_alpha, blank, zero_infinity);
}

}  // namespace sy::composite
