#pragma once

#include <vector>

#include "backends/lazy/value.h"

namespace sy::lazy {

// Sums of values that are zero but in parts that do not overlap become one
// value, to which the parts are written: the gradients of `qkv[0]`, `qkv[1]`
// and `qkv[2]`, or of slices. `nodes` are in order and go with what nobody
// needs any more. (0 + -0 is 0, and is -0 here.)
void join_writes(std::vector<intrusive_ptr<LazyNode>>* nodes);

}  // namespace sy::lazy
