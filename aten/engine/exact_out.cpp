#include "aten/engine/exact_out.h"

#include "aten/engine/guard.h"
#include "aten/engine/operator_steps.h"

namespace sy {

void check_exact_out(const OperatorEntry& writer, const PointwiseOp& op,
                     const PointwiseArgs& args, const TensorBase& out) {
  PointwisePlan plan;
  plan_pointwise(op, args, &plan);
  generated::check_out_dtype(writer, out, plan.result);
}

void prepare_copied_out(const OperatorEntry& writer, const PointwiseOp& op,
                        const PointwiseArgs& args, Tensor& out) {
  PointwisePlan plan;
  plan_pointwise(op, args, &plan);
  generated::check_out_dtype(writer, out, plan.result);
  if (!out.defined() || out.sizes() == IntArrayRef(plan.sizes)) return;
  for (int i = 0; i < op.n_inputs; ++i) {
    if (args.inputs[i]->storage() == out.storage()) return;
  }
  resize_output(op.name, out, plan.sizes);
}

void check_exact_out(const OperatorEntry& writer, const ReduceOp& op,
                     const ReduceArgs& args, const TensorBase& out) {
  ReducePlan plan;
  plan_reduce(op, args, &plan);
  // ATen's any and all write truth values to bytes, too.
  if (plan.results[0] == kBool && out.defined() && out.dtype() == kByte) return;
  generated::check_out_dtype(writer, out, plan.results[0]);
}

}  // namespace sy
