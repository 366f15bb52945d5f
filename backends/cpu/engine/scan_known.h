#pragma once

#include "aten/engine/scan.h"
#include "backends/cpu/support/rows.h"

namespace sy::cpu {

// Whether a loop along rows does what the operator's program says: sums,
// products, the greatest and the least element so far.
bool knows_scan(const ScanOp& op, const ScanPlan& plan);
// Runs that loop over contiguous rows of dtype plan.result. Writes as many
// elements of that dtype to `values` and, for a scan that chooses, int64 places
// to `places`.
void scan_known(const ScanOp& op, const ScanPlan& plan, const Tensor& rows,
                RowCount count, void* values, void* places);

}  // namespace sy::cpu
