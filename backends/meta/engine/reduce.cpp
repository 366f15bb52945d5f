#include "backends/meta/engine/reduce.h"

#include "aten/engine/calls.h"

namespace sy::meta {

namespace {

constexpr auto kNothing = [](const ReducePlan&, Tensor* const*) {};

}  // namespace

Tensor reduce(const ReduceOp& op, const ReduceArgs& args) {
  return calls::reduce(op, args, kNothing);
}

void reduce_out(const ReduceOp& op, const ReduceArgs& args,
                const OperatorEntry& writer, Tensor& out) {
  calls::reduce_out(op, args, writer, out, kNothing);
}

void reduce_results(const ReduceOp& op, const ReduceArgs& args,
                    Tensor* results) {
  calls::reduce_results(op, args, results, kNothing);
}

void reduce_outs(const ReduceOp& op, const ReduceArgs& args,
                 const OperatorEntry& writer, Tensor* const* outs) {
  calls::reduce_outs(op, args, writer, outs, kNothing);
}

}  // namespace sy::meta
