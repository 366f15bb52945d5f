#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/ast.h"
#include "lang/diagnostics.h"
#include "lang/element.h"
#include "lang/primitives.h"

namespace sy::lang {

struct DiffOptions {
  // The name of the incoming gradient; linear in every derivative.
  std::string grad = "grad";
  // The name of the value of the whole expression, where a formula may use it
  // (`grad * result` for exp); empty: it may not.
  std::string result = {};
  // The kinds of the names, so that scalars are known as such: the maximum of
  // an element and a scalar passes the gradient at equality, that of two
  // elements splits it. Only literals are scalars without it.
  const ElementEnv* env = nullptr;
};

// grad times the derivative of an element expression by one of its tensor
// names, simplified, as an element expression in the same names and `grad`.
// The literal 0 if it does not depend on it, or only through steps (sign,
// floor, comparisons). Null, with an error, if it is not differentiable. Ties
// and ends of intervals as in PyTorch: maximum splits between equals, clamp
// passes at its ends, abs gives 0 at 0, `where(x <= 0, 0, x)` gives 0 at 0.
// `e` must have passed check_element.
Expr differentiate(const Expr& e, std::string_view name,
                   const DiffOptions& options, Diagnostics& diagnostics);

// Collects equal factors and terms, cancels, and rewrites what numbers make
// fragile (`exp(x) / (1 + exp(x))` is `sigmoid(x)`): equal as real functions,
// not bit by bit. For derivatives; a user's own expression is only folded.
// Common factors are taken out of sums that are multiples of `grad`.
Expr simplify(const Expr& e, std::string_view grad = "grad");

// Whether a derivative is known with respect to every operand.
bool is_differentiable(Prim prim);

}  // namespace sy::lang
