#pragma once

#include "aten/engine/scan.h"

namespace sy {
class OperatorEntry;
}

// The scan engine (aten/backend/engines.h). Elements are grouped by their
// number alone: results of floats are the same in every run. Long rows are
// scanned in three passes rather than by looking back at other blocks, whose
// grouping depends on timing. No call waits for the device.

namespace sy::cuda {

void scan_results(const ScanOp& op, const ScanArgs& args, Tensor* results);
void scan_outs(const ScanOp& op, const ScanArgs& args,
               const OperatorEntry& writer, Tensor* const* outs);

}  // namespace sy::cuda
