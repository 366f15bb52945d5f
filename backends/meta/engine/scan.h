#pragma once

#include "aten/engine/scan.h"

namespace sy {
class OperatorEntry;
}

namespace sy::meta {

// The kernels of the Meta device, like those of backends/cpu/engine/scan.h.
SY_API void scan_results(const ScanOp& op, const ScanArgs& args,
                         Tensor* results);
SY_API void scan_outs(const ScanOp& op, const ScanArgs& args,
                      const OperatorEntry& writer, Tensor* const* outs);

}  // namespace sy::meta
