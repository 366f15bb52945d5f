#include "backends/meta/engine/reduce.h"

#include "aten/engine/guard.h"

namespace sy::meta {

Tensor reduce(const ReduceOp& op, const ReduceArgs& args) {
  ReducePlan plan;
  plan_reduce(op, args, &plan);
  return Tensor(make_tensor(plan.sizes, plan.results[0], args.self->device()));
}

void reduce_out(const ReduceOp& op, const ReduceArgs& args,
                const OperatorEntry& writer, Tensor& out) {
  ReducePlan plan;
  plan_reduce_out(op, args, out, &plan);
  resize_output(op.name, out, plan.sizes);
  bump_version(out, &writer);
}

void reduce_results(const ReduceOp& op, const ReduceArgs& args,
                    Tensor* results) {
  ReducePlan plan;
  plan_reduce(op, args, &plan);
  for (int i = 0; i < op.n_results; ++i) {
    results[i] =
        Tensor(make_tensor(plan.sizes, plan.results[i], args.self->device()));
  }
}

void reduce_outs(const ReduceOp& op, const ReduceArgs& args,
                 const OperatorEntry& writer, Tensor* const* outs) {
  ReducePlan plan;
  plan_reduce_outs(op, args, outs, &plan);
  for (int i = 0; i < op.n_results; ++i) {
    resize_output(op.name, *outs[i], plan.sizes);
    bump_version(*outs[i], &writer);
  }
}

}  // namespace sy::meta
