#pragma once

#include <string>
#include <string_view>

#include "c10/dispatch/introspect.h"

namespace sy::tools {

// "add.Tensor" of "aten::add.Tensor"; names of other libraries keep theirs.
std::string short_name(std::string_view full);

// Whether a shell pattern (*, ?, [...]) fits the name, with or without the
// namespace.
bool matches(const std::string& pattern, const std::string& name);

// The file of schemas/ops that describes an operator, as "activation".
std::string family_of(OperatorHandle op);

// "own", "alias", "fallback", "skipped" or "missing".
const char* route_name(DispatchInfo::Route route);

// "schemas/gen/…cpp:573, boxed, guarded" with `owner`, if it is not empty,
// behind the line; without the folder that Bazel generates into.
std::string kernel_place(const KernelInfo& kernel, std::string_view owner);

}  // namespace sy::tools
