#pragma once

#include "aten/engine/scan.h"

namespace sy {
class OperatorEntry;
}

namespace sy::cpu {

// Runs a scan on a CPU tensor. Makes one fresh result, or two if the scan
// chooses. The results are the same for any number of threads.
SY_API void scan_results(const ScanOp& op, const ScanArgs& args,
                         Tensor* results);
// Writes to `outs`, which are resized if need be. After the checks their
// versions are bumped with `writer`. The first may be self.
SY_API void scan_outs(const ScanOp& op, const ScanArgs& args,
                      const OperatorEntry& writer, Tensor* const* outs);

}  // namespace sy::cpu
