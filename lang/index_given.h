#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/index.h"

// Optional arguments in index expressions: where they have a value. For
// index.cpp and requirements.cpp.

namespace sy::lang {

using Names = std::vector<std::string>;

// Adds the names that are not None where `e` is `truth`.
void collect_given(const ExprNode& e, bool truth, Names& out);

// compile_index() where the arguments `given` are known not to be None.
std::optional<IndexCode> compile_given(const Expr& e, const IndexEnv& env,
                                       std::optional<IndexType> expected,
                                       std::string_view op, const Names& given,
                                       Diagnostics& diagnostics);

}  // namespace sy::lang
