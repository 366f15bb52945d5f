#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "c10/schema/function_schema.h"
#include "lang/ast.h"
#include "lang/diagnostics.h"
#include "lang/primitives.h"

// The element typing, of `pointwise:` and `reduce:`: an expression computes one
// element from the elements of tensors and from uniforms (numbers that are the
// same for every element). Its functions are the primitives plus sugar.

namespace sy::lang {

enum class ElementKind : std::uint8_t {
  kTensor,  // an element of a tensor operand
  kNumber,  // a Scalar, int or float argument
  kBool,    // a bool argument
  kString,  // a str argument; may be compared with a literal only
};

struct ElementName {
  std::string name;  // dotted for an accumulator: "a.mean"
  ElementKind kind;
  // May be None: `x == None` asks.
  bool optional = false;
};

// The names that an expression may mention, in the order of the operands of its
// program.
struct ElementEnv {
  std::vector<ElementName> names;

  // The arguments of a schema that can be used, out arguments aside.
  static ElementEnv of(const FunctionSchema& schema);
  // The functions of the derivative: the schema's names, `grad`, `result`.
  static ElementEnv of_derivative(const FunctionSchema& schema);
  const ElementName* find(std::string_view name) const;
};

struct ElementType {
  bool uniform = true;
  bool is_bool = false;  // else a number, or an element of the compute dtype
};

// Checks names, argument counts and types. Nothing after an error.
std::optional<ElementType> check_element(const Expr& e, const ElementEnv& env,
                                         Diagnostics& diagnostics);

// A function of the element language.
struct ElementFunction {
  std::string_view name;
  int min_arguments;
  int max_arguments;
  std::optional<Prim> prim;  // none for sugar, which expands
};
std::span<const ElementFunction> element_functions();
const ElementFunction* find_element_function(std::string_view name);

// `e` in the terms of the primitives' names, `if`, operators and `let`; sugar
// (where, relu, silu …) expanded. The other passes read this.
Expr expand_element(const Expr& e);

// A constant that a name can be bound to: a number, bool, string or None node.
using Bindings = std::map<std::string, Expr, std::less<>>;
// `e` with names bound to constants, folded: `self + alpha * other` with alpha
// = 1 is `self + other`. Exact but for the sign of a zero.
Expr specialise(const Expr& e, const Bindings& bindings);
// Constants folded, branches on constants taken, neutral elements dropped.
Expr fold(const Expr& e);

}  // namespace sy::lang
