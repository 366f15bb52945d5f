#pragma once

#include <optional>

#include "autograd/saved_tensor.h"

// Arguments that an operator writes although its signature does not say so
// (`writes:`), and that its node has saved.

namespace sy::autograd {

inline uint32_t version_of(const std::optional<Tensor>& t) {
  return t && t->defined() ? t->impl()->version() : 0;
}

// After the call: what it wrote itself has no old value any more, and the
// formula gets no tensor. `before` is the version before the call.
inline void forget_if_written(SavedTensor& saved,
                              const std::optional<Tensor>& now,
                              uint32_t before) {
  if (version_of(now) != before) saved = SavedTensor();
}

}  // namespace sy::autograd
