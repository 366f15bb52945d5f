#include "aten/engine/exact_out.h"

#include "aten/engine/generated.h"

namespace sy {

void check_exact_out(const OperatorEntry& writer, const PointwiseOp& op,
                     const PointwiseArgs& args, const TensorBase& out) {
  PointwisePlan plan;
  plan_pointwise(op, args, &plan);
  generated::check_out_dtype(writer, out, plan.result);
}

void check_exact_out(const OperatorEntry& writer, const ReduceOp& op,
                     const ReduceArgs& args, const TensorBase& out) {
  ReducePlan plan;
  plan_reduce(op, args, &plan);
  generated::check_out_dtype(writer, out, plan.results[0]);
}

}  // namespace sy
