#include "backends/meta/engine/pointwise.h"

#include "aten/engine/calls.h"

namespace sy::meta {

namespace {

constexpr auto kNothing = [](const PointwisePlan&, Tensor*) {};

}  // namespace

Tensor pointwise(const PointwiseOp& op, const PointwiseArgs& args) {
  PointwisePlan plan;
  plan_pointwise(op, args, &plan);
  return make_result(op, args, plan);
}

void pointwise_outputs(const PointwiseOp& op, const PointwiseArgs& args,
                       Tensor* results) {
  calls::pointwise_outputs(op, args, results, kNothing);
}

void pointwise_out(const PointwiseOp& op, const PointwiseArgs& args,
                   const OperatorEntry& writer, Tensor& out) {
  calls::pointwise_write(op, args, out, false, &writer, kNothing);
}

void pointwise_inplace(const PointwiseOp& op, const PointwiseArgs& args,
                       const OperatorEntry& writer, Tensor& self) {
  calls::pointwise_write(op, args, self, true, &writer, kNothing);
}

}  // namespace sy::meta
