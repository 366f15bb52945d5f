#pragma once

#include <string>
#include <string_view>

#include "c10/dispatch/dispatcher.h"
#include "c10/tensor/tensor_base.h"

// Rules that hold for any call, right or wrong.

namespace sy::tools {

// Whether an error says which operator it is about: "[add] …", or by name.
bool names_operator(std::string_view text, const FunctionSchema& schema);

// Whether an error begins with a name in brackets, as "[add] other: …": that of
// the operator, or, of one composed of others, that of the one that refuses.
// The forms of an operator and its overloads share a name.
bool begins_with_operator(std::string_view text, OperatorHandle op);

// "" if every element of a tensor lies within its storage.
std::string out_of_bounds(const TensorBase& t);

}  // namespace sy::tools
