#pragma once

#include "aten/engine/dims.h"

// Counts of windows, for `shape:` and `require:` expressions; see geometry.h.

namespace sy::geometry {

// For each dim how many windows of `kernel` elements, `dilation` apart, there
// are every `stride` elements of a dim of `sizes` with `padding` at both ends.
// Lists of one length; numbers of at most 2^31, strides positive. A count may
// be 0 or less.
SY_API Dims window_counts(const char* op, IntArrayRef sizes, IntArrayRef kernel,
                          IntArrayRef stride, IntArrayRef padding,
                          IntArrayRef dilation);

// The sizes of the result of pooling the last n of n + 1 or n + 2 dims. A list
// has n numbers or one for all dims; no stride is that of the kernel.
// ceil_mode: a window may begin within self or its padding before it and end
// beyond. Throws ValueError on arguments that no pooling can have.
SY_API Dims pooled_sizes(const char* op, int64_t n, IntArrayRef sizes,
                         IntArrayRef kernel_size, IntArrayRef stride,
                         IntArrayRef padding, IntArrayRef dilation,
                         bool ceil_mode);

}  // namespace sy::geometry
