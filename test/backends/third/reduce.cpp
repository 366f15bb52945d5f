#include "test/backends/third/reduce.h"

#include <atomic>

#include "aten/backend/engines.h"
#include "aten/engine/guard.h"
#include "aten/ops/all.h"

namespace sy::third {
namespace {

std::atomic<int> count{0};

}  // namespace

int reductions() { return count; }

void reduce_results(const ReduceOp& op, const ReduceArgs& args,
                    Tensor* results) {
  ++count;
  const Device here = args.self->device();
  const Tensor copy = Tensor(*args.self).to(kCPU);
  ReduceArgs on_host = args;
  on_host.self = &copy;
  engines_of(kCPU)->reduce->results(op, on_host, results);
  for (int i = 0; i < op.n_results; ++i) results[i] = results[i].to(here);
}

Tensor reduce(const ReduceOp& op, const ReduceArgs& args) {
  Tensor out;
  reduce_results(op, args, &out);
  return out;
}

void reduce_outs(const ReduceOp& op, const ReduceArgs& args,
                 const OperatorEntry& writer, Tensor* const* outs) {
  ReducePlan plan;
  plan_reduce_outs(op, args, outs, &plan);
  Tensor results[ReduceOp::kMaxResults];
  reduce_results(op, args, results);
  for (int i = 0; i < op.n_results; ++i) {
    resize_output(op.name, *outs[i], plan.sizes);
    outs[i]->copy_(results[i]);
    outs[i]->impl()->bump_version(&writer);
  }
}

void reduce_out(const ReduceOp& op, const ReduceArgs& args,
                const OperatorEntry& writer, Tensor& out) {
  Tensor* const outs[] = {&out};
  reduce_outs(op, args, writer, outs);
}

}  // namespace sy::third
