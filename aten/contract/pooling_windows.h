#pragma once

#include "aten/engine/dims.h"

// Counts windows, for `shape:` and `require:` expressions; see geometry.h.

namespace sy::geometry {

// The number of windows along each dim of `sizes`, which has `padding` at both
// ends. A window has `kernel` elements, `dilation` apart; one starts every
// `stride` elements. The lists have the same length, numbers are at most 2^31,
// and strides are positive. A count may be 0 or less.
SY_API Dims window_counts(const char* op, IntArrayRef sizes, IntArrayRef kernel,
                          IntArrayRef stride, IntArrayRef padding,
                          IntArrayRef dilation);

// The sizes of the result of pooling the last n of n + 1 or n + 2 dims. A list
// has n numbers, or one for all dims; an empty `stride` means kernel_size. With
// ceil_mode a window may end beyond the padding if it begins within self or the
// padding before it. Throws ValueError for arguments that no pooling can have.
SY_API Dims pooled_sizes(const char* op, int64_t n, IntArrayRef sizes,
                         IntArrayRef kernel_size, IntArrayRef stride,
                         IntArrayRef padding, IntArrayRef dilation,
                         bool ceil_mode);

}  // namespace sy::geometry
