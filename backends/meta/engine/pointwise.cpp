#include "backends/meta/engine/pointwise.h"

#include "aten/engine/guard.h"

namespace sy::meta {

Tensor pointwise(const PointwiseOp& op, const PointwiseArgs& args) {
  PointwisePlan plan;
  plan_pointwise(op, args, &plan);
  return make_result(op, args, plan);
}

void pointwise_outputs(const PointwiseOp& op, const PointwiseArgs& args,
                       Tensor* results) {
  PointwisePlan plan;
  plan_pointwise(op, args, &plan);
  for (int i = 0; i < op.n_outputs; ++i) {
    plan.result = op.program.body.results[i].is_bool ? kBool : plan.compute;
    results[i] = make_result(op, args, plan);
  }
}

void pointwise_out(const PointwiseOp& op, const PointwiseArgs& args,
                   const OperatorEntry& writer, Tensor& out) {
  PointwisePlan plan;
  plan_pointwise_out(op, args, out, false, &plan);
  if (resize_output(op.name, out, plan.sizes)) {
    Dims strides;
    result_strides(op, args, plan.sizes, &strides);
    out.impl()->set_sizes_and_strides(plan.sizes, strides,
                                      out.storage_offset());
  }
  bump_version(out, &writer);
}

void pointwise_inplace(const PointwiseOp& op, const PointwiseArgs& args,
                       const OperatorEntry& writer, Tensor& self) {
  PointwisePlan plan;
  plan_pointwise_out(op, args, self, true, &plan);
  bump_version(self, &writer);
}

}  // namespace sy::meta
