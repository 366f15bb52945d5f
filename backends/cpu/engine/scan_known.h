#pragma once

#include "aten/engine/scan.h"
#include "backends/cpu/support/rows.h"

namespace sy::cpu {

// Whether a loop does along rows what the operator's program says: sums,
// products, the greatest and the least so far.
bool knows_scan(const ScanOp& op, const ScanPlan& plan);
// That loop over contiguous rows of plan.result, to as many elements of it and,
// of a scan that chooses, int64 places.
void scan_known(const ScanOp& op, const ScanPlan& plan, const Tensor& rows,
                RowCount count, void* values, void* places);

}  // namespace sy::cpu
