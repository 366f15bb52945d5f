#include "backends/meta/engine/reduce.h"

#include "aten/engine/calls.h"

namespace sy::meta {

namespace {

void nothing(const ReduceOp&, const ReduceArgs&, const ReducePlan&,
             Tensor* const*) {}

}  // namespace

Tensor reduce(const ReduceOp& op, const ReduceArgs& args) {
  return calls::reduce<nothing>(op, args);
}

void reduce_out(const ReduceOp& op, const ReduceArgs& args,
                const OperatorEntry& writer, Tensor& out) {
  calls::reduce_out<nothing>(op, args, writer, out);
}

void reduce_results(const ReduceOp& op, const ReduceArgs& args,
                    Tensor* results) {
  calls::reduce_results<nothing>(op, args, results);
}

void reduce_outs(const ReduceOp& op, const ReduceArgs& args,
                 const OperatorEntry& writer, Tensor* const* outs) {
  calls::reduce_outs<nothing>(op, args, writer, outs);
}

}  // namespace sy::meta
