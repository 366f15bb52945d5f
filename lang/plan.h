#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c10/schema/function_schema.h"
#include "lang/ast.h"

// An expression of the tensor or the index typing whose overloads and
// conversions are chosen. compile_tensor and compile_index print the same as
// C++; a plan is for running it without a compiler.

namespace sy::lang {

struct PlanNode;
// Immutable and shared.
using Plan = std::shared_ptr<const PlanNode>;

enum class PlanKind : std::uint8_t {
  kNone,
  kNumber,         // number
  kBool,           // number.i
  kString,         // name: the characters
  kDtype,          // name, "float32"
  kFormat,         // name, "contiguous_format"
  kName,           // name: an argument, or a variable of kLet or comprehension
  kLet,            // name, [value, body]
  kOperator,       // schema, one child for each argument; null: its default
  kMetadata,       // name, [tensor] or [tensor, dim]
  kOptions,        // name of a part ("dtype"), [tensor]
  kNot,            // [bool]
  kNegate,         // [number]
  kHasValue,       // [optional]
  kDouble,         // [number]
  kBinary,         // op, [a, b]: numbers, or others that C++ compares
  kConcat,         // [list, list]
  kFunction,       // name, [number]: of <cmath>
  kIndexFunction,  // name, number.i: place in index_functions(); arguments
  kIf,             // [condition, then, else]
  kList,           // type of an element, items
  kTuple,          // items
  kResult,         // number.i, [several values]
  kAt,             // [list, index]
  kSlice,          // [list, begin, end]; null: open
  kComprehension,  // name, type of an element, [item, list], or with condition
};

struct PlanNode {
  PlanKind kind;
  std::string name = {};
  std::vector<Plan> children = {};
  Number number = {};
  Op op = Op::kAdd;
  Type type = TypeKind::kTensor;
  // The OpTable that gave it owns it.
  const FunctionSchema* schema = nullptr;
};

inline Plan make_plan(PlanNode node) {
  return std::make_shared<const PlanNode>(std::move(node));
}
inline Plan plan_of(PlanKind kind, std::vector<Plan> children,
                    std::string name = {}) {
  return make_plan({kind, std::move(name), std::move(children)});
}
inline Plan plan_name(std::string name) {
  return make_plan({PlanKind::kName, std::move(name)});
}
inline Plan plan_number(Number n) {
  return make_plan({PlanKind::kNumber, {}, {}, n});
}
inline Plan plan_binary(Op op, Plan a, Plan b) {
  PlanNode node{PlanKind::kBinary, {}, {std::move(a), std::move(b)}};
  node.op = op;
  return make_plan(std::move(node));
}
inline Plan plan_double(Plan x) {
  if (x && x->kind == PlanKind::kNumber) {
    return plan_number(Number::of(x->number.as_double()));
  }
  return plan_of(PlanKind::kDouble, {std::move(x)});
}

}  // namespace sy::lang
