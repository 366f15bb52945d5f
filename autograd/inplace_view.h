#pragma once

#include "autograd/node.h"

namespace sy::autograd {

// Call this after an operator has given `self` other sizes, strides or another
// offset in its storage. It makes self the next output of `node`, whose edge 0
// leads to the history that self had before. Other tensors in the same memory
// do not change, unlike after a write.
SY_API void set_history_of_view(Tensor& self, intrusive_ptr<Node> node);

}  // namespace sy::autograd
