#include "backends/meta/reduce.h"

#include "aten/guard.h"

namespace sy::meta {

Tensor reduce(const ReduceOp& op, const ReduceArgs& args) {
  ReducePlan plan;
  plan_reduce(op, args, &plan);
  return Tensor(make_tensor(plan.sizes, plan.result, args.self->device()));
}

void reduce_out(const ReduceOp& op, const ReduceArgs& args,
                const OperatorEntry& writer, Tensor& out) {
  ReducePlan plan;
  plan_reduce_out(op, args, out, &plan);
  resize_output(op.name, out, plan.sizes);
  bump_version(out, &writer);
}

}  // namespace sy::meta
