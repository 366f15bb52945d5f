#pragma once

#include <string_view>

#include "lang/ast.h"

namespace sy::lang {

// The nodes of a tree; `most` + 1 for any that has more.
std::size_t count_nodes(const Expr& e, std::size_t most);

// `e` as a chain of lets, each of one operation: no part that depends on the
// free name `name` is written twice if `e` writes it once. The parts of a
// branch of an `if` stay in the branch. Bindings of `e` are unique
// (with_unique_bindings), and so are those of the result.
Expr name_parts(const Expr& e, std::string_view name);

}  // namespace sy::lang
