#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "c10/schema/function_schema.h"
#include "lang/cpp_text.h"
#include "lang/plan.h"
#include "lang/tensor.h"

// Private to the tensor typing: what an expression is while it is compiled.

namespace sy::lang::detail {

struct Value {
  enum class Kind : unsigned char {
    kTyped,  // types[0]
    kTuple,  // types, a std::tuple
    kNone,
    kList,     // a list literal: items, of any types
    kOptions,  // TensorOptions, which no signature names
  };
  Kind kind = Kind::kTyped;
  std::vector<Type> types;
  Cpp cpp;
  std::vector<Value> items;
  // The same as `cpp`; for kOptions, the tensor that has them.
  Plan plan;
  // The C++ and the plan for a parameter that may be absent, if they are
  // others.
  std::string optional_cpp = {};
  Plan optional_plan = {};

  static Value of(Type type, Cpp cpp, Plan plan) {
    return {Kind::kTyped, {type}, std::move(cpp), {}, std::move(plan)};
  }
  bool is(TypeKind kind) const;
  // Tensor; an optional one too.
  bool is_tensor() const;
  // Scalar, int, float or bool, none of them optional.
  bool is_number() const;
};

// "Tensor", "None", "list", "(Tensor, Tensor)"
std::string describe(const Value& v);

struct Conversion {
  std::string text;
  int cost;
  Plan plan;
};
// The C++ that gives `v` to a parameter of type `to`; nothing if it cannot be.
std::optional<Conversion> convert(const Value& v, Type to);

// The C++ literal of a default, for a parameter of that type.
std::string cpp_default(DefaultValue value, Type type);

struct CallArgument {
  std::string keyword;  // empty: positional
  Value value;
};

struct Resolved {
  const FunctionSchema* schema;
  std::string text;  // the arguments, "a, b"
  Plan plan;
};
// The overload that takes the arguments with the fewest conversions, the first
// of equals; or why there is none.
struct Resolution {
  std::optional<Resolved> resolved;
  std::string error;
};
Resolution resolve(std::string_view name,
                   std::span<const FunctionSchema* const> overloads,
                   const std::vector<CallArgument>& arguments);

}  // namespace sy::lang::detail
