#pragma once

#include "aten/engine/scan.h"

namespace sy {
class OperatorEntry;
}

// The scan engine (aten/backend/engines.h). Elements are grouped by their
// number alone: results of floats are the same in every run, and those of a row
// whatever rows are beside it. Long rows are read and written once: blocks look
// back at what others made, in groups that do not depend on timing. No call
// waits for the device.

namespace sy::cuda {

void scan_results(const ScanOp& op, const ScanArgs& args, Tensor* results);
void scan_outs(const ScanOp& op, const ScanArgs& args,
               const OperatorEntry& writer, Tensor* const* outs);

}  // namespace sy::cuda
