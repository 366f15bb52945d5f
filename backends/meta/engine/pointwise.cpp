#include "backends/meta/engine/pointwise.h"

#include "aten/engine/calls.h"

namespace sy::meta {

namespace {

void nothing(const PointwiseOp&, const PointwiseArgs&, const PointwisePlan&,
             Tensor*) {}

}  // namespace

Tensor pointwise(const PointwiseOp& op, const PointwiseArgs& args) {
  PointwisePlan plan;
  plan_pointwise(op, args, &plan);
  return make_result(op, args, plan);
}

void pointwise_outputs(const PointwiseOp& op, const PointwiseArgs& args,
                       Tensor* results) {
  calls::pointwise_outputs<nothing>(op, args, results);
}

void pointwise_out(const PointwiseOp& op, const PointwiseArgs& args,
                   const OperatorEntry& writer, Tensor& out) {
  calls::pointwise_write<nothing>(op, args, out, false, &writer);
}

void pointwise_inplace(const PointwiseOp& op, const PointwiseArgs& args,
                       const OperatorEntry& writer, Tensor& self) {
  calls::pointwise_write<nothing>(op, args, self, true, &writer);
}

}  // namespace sy::meta
