#include "aten/engine/reduce.h"

#include "aten/engine/guard.h"
#include "aten/program/program_domain.h"

namespace sy {

namespace {

void check_domain(const ReduceOp& op, const ElementProgram& program,
                  ScalarType t) {
  const char* missed = missed_domain(program.body, t);
  SY_CHECK(missed == nullptr, Type, "[{}] self: expected {}, got {}", op.name,
           missed, t);
}

ScalarType reduce_dtype(const ReduceOp& op, const ReduceArgs& args) {
  ScalarType t = args.dtype.value_or(args.self->dtype());
  SY_CHECK(static_cast<int>(t) < kNumScalarTypes, Type,
           "[{}] dtype: expected a dtype, got {}", op.name, t);
  if (!args.dtype && !is_floating_type(t)) {
    if (op.promote == PromoteRule::BoolToInt) t = kLong;
    if (op.promote == PromoteRule::IntToFloat) t = default_dtype();
  }
  check_domain(op, op.map, t);
  check_domain(op, op.combine, t);
  if (op.finish != nullptr) check_domain(op, *op.finish, t);
  return t;
}

uint64_t reduced_dims(const ReduceOp& op, const ReduceArgs& args) {
  const int64_t n = args.self->dim();
  const uint64_t all = n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
  if (!args.dims.has_value() || args.dims->empty()) return all;
  uint64_t bits = 0;
  for (const int64_t d : *args.dims) {
    const uint64_t bit = uint64_t{1} << wrap_dim(op.name, d, n);
    SY_CHECK((bits & bit) == 0, Value,
             "[{}] dim: expected distinct dims, got {}", op.name, *args.dims);
    bits |= bit;
  }
  return bits & all;
}

}  // namespace

void plan_reduce(const ReduceOp& op, const ReduceArgs& args, ReducePlan* plan) {
  check_defined(op.name, "self", *args.self);
  plan->compute = reduce_dtype(op, args);
  const program::Program& last =
      op.finish == nullptr ? op.map.body : op.finish->body;
  for (int i = 0; i < op.n_results; ++i) {
    plan->results[i] = plan->compute;
    // Truth values of bytes are bytes, as in ATen.
    if (last.results[i].is_bool) {
      plan->results[i] = args.self->dtype() == kByte ? kByte : kBool;
    }
  }
  if (op.accumulate == AccumulateRule::Double &&
      is_floating_type(plan->compute)) {
    plan->compute = kDouble;
  }
  plan->reduced = reduced_dims(op, args);
  plan->numel = 1;
  plan->count = 1;
  plan->sizes.resize(0);
  const IntArrayRef sizes = args.self->sizes();
  for (size_t d = 0; d < sizes.size(); ++d) {
    if ((plan->reduced >> d & 1) != 0) {
      plan->count *= sizes[d];
      if (args.keepdim) plan->sizes.push_back(1);
    } else {
      plan->numel *= sizes[d];
      plan->sizes.push_back(sizes[d]);
    }
  }
  SY_CHECK(plan->count != 0 || plan->numel == 0 || op.identity != nullptr,
           Value,
           "[{}] dim: expected dims with elements, as no elements have no {}, "
           "got sizes {}",
           op.name, op.name, sizes);
}

void check_reduce(const ReduceOp& op, const ReduceArgs& args) {
  ReducePlan plan;
  plan_reduce(op, args, &plan);
}

namespace {

void check_out(const ReduceOp& op, const ReduceArgs& args,
               const ReducePlan* plan, int result, const TensorBase& out) {
  const ScalarType dtype = plan->results[result];
  check_defined(op.name, "out", out);
  check_can_cast(op.name, "out", dtype, out.dtype());
  SY_CHECK(op.n_results == 1 || out.dtype() == dtype, Type,
           "[{}] out: expected {}, got {}", op.name, dtype, out.dtype());
  SY_CHECK(out.device() == args.self->device(), Value,
           "[{}] out: expected a tensor on {}, got {}", op.name,
           args.self->device(), describe(out));
  if (out.sizes() == IntArrayRef(plan->sizes)) {
    assert_no_internal_overlap(op.name, "out", out);
    assert_no_overlap(op.name, out, "self", *args.self);
  }
}

}  // namespace

void plan_reduce_out(const ReduceOp& op, const ReduceArgs& args,
                     const TensorBase& out, ReducePlan* plan) {
  plan_reduce(op, args, plan);
  check_out(op, args, plan, 0, out);
}

void plan_reduce_outs(const ReduceOp& op, const ReduceArgs& args,
                      Tensor* const* outs, ReducePlan* plan) {
  plan_reduce(op, args, plan);
  for (int i = 0; i < op.n_results; ++i) {
    check_out(op, args, plan, i, *outs[i]);
    for (int j = 0; j < i; ++j) {
      assert_no_overlap(op.name, *outs[i], "out", *outs[j]);
    }
  }
}

void check_reduce_outs(const ReduceOp& op, const ReduceArgs& args,
                       Tensor* const* outs) {
  ReducePlan plan;
  plan_reduce_outs(op, args, outs, &plan);
}

void check_reduce_out(const ReduceOp& op, const ReduceArgs& args,
                      const TensorBase& out) {
  ReducePlan plan;
  plan_reduce_out(op, args, out, &plan);
}

}  // namespace sy
