#include "aten/engine/scan.h"

#include "aten/engine/dims.h"
#include "aten/engine/guard.h"
#include "aten/program/program_domain.h"

namespace sy {

namespace {

void finish_plan(const ScanOp& op, const ScanArgs& args, ScanPlan* plan) {
  plan->dim = wrap_dim(op.name, args.dim, args.self->dim());
  SY_CHECK(static_cast<int>(plan->result) < kNumScalarTypes, Type,
           "[{}] dtype: expected a dtype, got {}", op.name, plan->result);
  SY_CHECK(missed_domain(op.combine.body, plan->result) == nullptr, Type,
           "[{}] self: expected a floating dtype, got {}", op.name,
           plan->result);
  const bool wide = op.accumulate == AccumulateRule::Double;
  plan->compute =
      wide && is_floating_type(plan->result) ? kDouble : plan->result;
}

}  // namespace

void plan_scan(const ScanOp& op, const ScanArgs& args, ScanPlan* plan) {
  check_defined(op.name, "self", *args.self);
  plan->result = args.dtype.value_or(args.self->dtype());
  if (!args.dtype && !is_floating_type(plan->result)) {
    if (op.promote == PromoteRule::BoolToInt) plan->result = kLong;
    if (op.promote == PromoteRule::IntToFloat) plan->result = default_dtype();
  }
  finish_plan(op, args, plan);
}

void check_scan(const ScanOp& op, const ScanArgs& args) {
  ScanPlan plan;
  plan_scan(op, args, &plan);
}

void plan_scan_outs(const ScanOp& op, const ScanArgs& args, Tensor* const* outs,
                    ScanPlan* plan) {
  check_defined(op.name, "self", *args.self);
  check_defined(op.name, "out", *outs[0]);
  const bool promotes = op.promote != PromoteRule::Default;
  plan->result =
      args.dtype.value_or(promotes ? outs[0]->dtype() : args.self->dtype());
  finish_plan(op, args, plan);
  for (int i = 0; i < result_count(op); ++i) {
    const Tensor& out = *outs[i];
    const ScalarType dtype = i == 0 ? plan->result : kLong;
    check_defined(op.name, "out", out);
    SY_CHECK(out.dtype() == dtype, Type, "[{}] out: expected {}, got {}",
             op.name, dtype, out.dtype());
    SY_CHECK(out.device() == args.self->device(), Value,
             "[{}] out: expected a tensor on {}, got {}", op.name,
             args.self->device(), out.device());
    if (out.sizes() == args.self->sizes()) {
      assert_no_internal_overlap(op.name, "out", out);
    }
    if (i > 0) assert_no_overlap(op.name, out, "out", *outs[0]);
  }
}

void check_scan_outs(const ScanOp& op, const ScanArgs& args,
                     Tensor* const* outs) {
  ScanPlan plan;
  plan_scan_outs(op, args, outs, &plan);
}

}  // namespace sy
