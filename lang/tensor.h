#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "c10/schema/function_schema.h"
#include "lang/ast.h"
#include "lang/cpp_text.h"
#include "lang/diagnostics.h"
#include "lang/element.h"
#include "lang/plan.h"

// The tensor typing, of `composite:`, `derivative:` and `dtype:`: an expression
// over operators becomes C++ that calls them.

namespace sy::lang {

// The operators that there are. Implemented by who has the model; helper
// functions written in C++ may be among them, if they lie in namespace sy.
class OpTable {
 public:
  virtual ~OpTable() = default;
  // The functional overloads of `name` (no namespace, no overload name), the
  // preferred first; empty if there is none. They live as long as the table.
  virtual std::span<const FunctionSchema* const> lookup(
      std::string_view name) const = 0;
  // Every name, for suggestions.
  virtual std::vector<std::string_view> names() const = 0;
  // The result of suggest() among them.
  std::string suggest_name(std::string_view name) const {
    return suggestions_.of(name, [&] { return names(); });
  }
  // The namespace of the C++ function, one of those that lookup gave.
  virtual std::string cpp_namespace(const FunctionSchema&) const {
    return "sy";
  }
  // The header that declares it, if it is no operator; else "".
  virtual std::string cpp_header(const FunctionSchema&) const { return ""; }

 private:
  mutable Suggestions suggestions_;
};

struct TensorName {
  std::string name;
  Type type;
  std::string cpp;  // the C++ that reads it
};

struct TensorEnv {
  std::vector<TensorName> names;
  std::string op;  // the operator's name, for messages at run time
  // Above 0: grads[0] up to this are the gradients of results, of a GradFrame
  // `grads`. Zeros where nothing flows; absent to what takes a Tensor?.
  std::size_t results = 0;

  // Every argument of the schema, out arguments aside.
  static TensorEnv of(const FunctionSchema& schema);
  // C++ reads it by its own name without `cpp`.
  void add(std::string name, Type type, std::string cpp = {});
  const TensorName* find(std::string_view name) const;
};

// "grads[0]", as plans name it; with a "?" behind it may be absent.
std::string gradient_name(std::size_t result);

// The first position of dtype, layout, device and pin_memory, which C++
// functions take as one TensorOptions; or -1.
int options_index(const FunctionSchema& schema);

// `statements` are complete lines ("const auto x = sy::mul(a, b);") that come
// before `value`. `types` are the expected ones, if any were given; several
// mean that the value is a std::tuple.
struct TensorCode {
  std::vector<std::string> statements;
  std::string value;
  std::vector<Type> types;
  // The operators that are called, with overload, sorted: "add.Tensor".
  std::vector<std::string> operators;
  Plan plan;
  // The headers beside those of the operators.
  Headers headers = {};
};

// Checks `e` and prints it as C++ for namespace sy. With `expected` the value
// converts to those types: a list literal to a tuple of so many, a Tensor to
// its ScalarType where that is expected. Nothing after an error.
std::optional<TensorCode> compile_tensor(const Expr& e, const TensorEnv& env,
                                         const OpTable& ops,
                                         std::span<const Type> expected,
                                         Diagnostics& diagnostics);
// The statements and "return …;", one a line, `indent` spaces in.
std::string to_body(const TensorCode& code, int indent = 2);

// An element expression in terms of operators: `fma(a, b, c)` is `a * b + c`,
// `if` is where() unless its condition is uniform, primitives that are no
// operators of ATen are spelt out. For second derivatives and for backends that
// have no element programs. `e` has passed check_element with `env`.
Expr element_to_tensor(const Expr& e, const ElementEnv& env);

}  // namespace sy::lang
