#include "backends/meta/engine/scan.h"

#include "aten/engine/guard.h"

namespace sy::meta {

void scan_results(const ScanOp& op, const ScanArgs& args, Tensor* results) {
  ScanPlan plan;
  plan_scan(op, args, &plan);
  for (int i = 0; i < result_count(op); ++i) {
    results[i] = Tensor(make_tensor(
        args.self->sizes(), i == 0 ? plan.result : kLong, args.self->device()));
  }
}

void scan_outs(const ScanOp& op, const ScanArgs& args,
               const OperatorEntry& writer, Tensor* const* outs) {
  ScanPlan plan;
  plan_scan_outs(op, args, outs, &plan);
  for (int i = 0; i < result_count(op); ++i) {
    resize_output(op.name, *outs[i], args.self->sizes());
    bump_version(*outs[i], &writer);
  }
}

}  // namespace sy::meta
