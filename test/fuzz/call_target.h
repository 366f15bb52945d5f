#pragma once

#include <string>
#include <string_view>

namespace sy::fuzz {

// A line "NAME: WORDS" of an operator of aten and arguments for it, as in
// docs/ops/examples.txt. The call gives results or throws an Error that is no
// InternalError; returns whether there was one to make.
bool run_call(std::string_view line);

}  // namespace sy::fuzz
