#include "backends/meta/engine/scan.h"

#include "aten/engine/calls.h"

namespace sy::meta {

namespace {

constexpr auto kNothing = [](const ScanPlan&, Tensor* const*) {};

}  // namespace

void scan_results(const ScanOp& op, const ScanArgs& args, Tensor* results) {
  calls::scan_results(op, args, results, kNothing);
}

void scan_outs(const ScanOp& op, const ScanArgs& args,
               const OperatorEntry& writer, Tensor* const* outs) {
  calls::scan_outs(op, args, writer, outs, kNothing);
}

}  // namespace sy::meta
