#pragma once

#include <functional>
#include <string>
#include <vector>

#include "c10/schema/function_schema.h"
#include "tools/sy/cases/arguments.h"

namespace sy::tools {

// One change of the arguments of a call.
struct Mutation {
  std::string id;  // "self: one dim more"
  std::function<void(Arguments&)> apply;
};

// Changes of one argument each, most of which make a call wrong: other ranks,
// sizes, dtypes, devices, strides and aliases of tensors; indices, sizes and
// numbers at the ends of their types; lists too short and too long; values of
// other types. Always the same for the same arguments, which are on the CPU.
std::vector<Mutation> mutations_of(const FunctionSchema& schema,
                                   const Arguments& arguments);

}  // namespace sy::tools
