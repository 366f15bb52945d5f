#pragma once

#include <cstddef>

#include "c10/tensor/value.h"

namespace sy::runtime {

// A function of the index typing on boxed arguments. `op` is the operator's
// name, for messages. Throws what the function throws; TypeError for an
// argument of another type, as None in place of a number.
using IndexCall = Value (*)(const char* op, const Value* const* args);
// The most parameters that one has.
inline constexpr size_t kMaxIndexParameters = 7;
// The call at a place in lang::index_functions().
IndexCall index_call(size_t place);

}  // namespace sy::runtime
