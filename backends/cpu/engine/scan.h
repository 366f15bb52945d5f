#pragma once

#include "aten/engine/scan.h"

namespace sy {
class OperatorEntry;
}

namespace sy::cpu {

// Runs a scan on a CPU tensor: one fresh result, or two of one that chooses.
// The results are the same for any number of threads.
SY_API void scan_results(const ScanOp& op, const ScanArgs& args,
                         Tensor* results);
// Into `outs`, resized if need be; their versions are bumped with `writer`
// after the checks. The first may be self.
SY_API void scan_outs(const ScanOp& op, const ScanArgs& args,
                      const OperatorEntry& writer, Tensor* const* outs);

}  // namespace sy::cpu
