#pragma once

#include "autograd/node.h"

namespace sy::autograd {

// After an operator has given `self` other sizes, strides or offset in its
// storage: self is the next output of `node`, whose edge 0 is that of self
// before. Unlike after a write nothing changes for what shares the memory.
SY_API void set_history_of_view(Tensor& self, intrusive_ptr<Node> node);

}  // namespace sy::autograd
