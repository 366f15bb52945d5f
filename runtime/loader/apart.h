#pragma once

#include <vector>

#include "runtime/loader/operator_state.h"

namespace sy::runtime {

// The arguments with copies of those inputs that share memory with a tensor
// that the form writes, so that its kernel does not read what it has written;
// empty if nothing has to be copied. Generated kernels do the same: see
// aten/engine/apart.h. `form` is an in-place or out= form. An in-place form
// gets copies only if its operator is pointwise.
std::vector<Value> inputs_apart(const OverloadState& form, const Value* args,
                                size_t num_args);

// The same for a form of several results, which must not share memory. Throws
// ValueError.
void check_outs_apart(const OverloadState& form, const OperatorEntry& entry,
                      const Value* args);

}  // namespace sy::runtime
