#pragma once

#include "backends/cuda/engine/scan_launch.h"

// Scans by the interpreter (scan_interpret.cu): what a call takes until its
// kernel is compiled. The same bits.

namespace sy::cuda {

// Whether the program is small enough.
bool can_interpret(const print::ScanText& text);

// `head` has where data and results are; `numbers` are those of the program.
void interpret_scan(int device, const print::ScanText& text,
                    const ScanHead& head, const Number* numbers,
                    const ScanCut& cut, const ScanLayout& layout,
                    const TensorBase* const* used, size_t n);

}  // namespace sy::cuda
