#pragma once

#include <string>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "c10/tensor/value.h"

namespace sy::tools {

// The fault of `combine` of a reduce or a scan, by its program at some numbers;
// "" if there is none. It must be associative: elements are brought together in
// any groups. The elements of a reduce come in any order, too, and its
// `identity` changes nothing. `args` is a call, whose scalars the program
// reads. `tried`: whether the operator has one.
std::string combine_problem(OperatorHandle op, const std::vector<Value>& args,
                            bool* tried);

}  // namespace sy::tools
