#include "backends/meta/engine/scan.h"

#include "aten/engine/calls.h"

namespace sy::meta {

namespace {

void nothing(const ScanOp&, const ScanArgs&, const ScanPlan&, Tensor* const*) {}

}  // namespace

void scan_results(const ScanOp& op, const ScanArgs& args, Tensor* results) {
  calls::scan_results<nothing>(op, args, results);
}

void scan_outs(const ScanOp& op, const ScanArgs& args,
               const OperatorEntry& writer, Tensor* const* outs) {
  calls::scan_outs<nothing>(op, args, writer, outs);
}

}  // namespace sy::meta
