#pragma once

#include <string>
#include <string_view>

#include "c10/schema/type.h"
#include "lang/ast.h"

// Private to the tensor typing: names that it knows.

namespace sy::lang::detail {

// The metadata of a tensor; everything else with a dot is an operator.
struct Metadata {
  std::string_view name;
  bool takes_dim;
  std::string_view type;  // empty: TensorOptions
};
inline constexpr Metadata kMetadata[] = {
    {"defined", false, "bool"},
    {"device", false, "Device"},
    {"dim", false, "int"},
    {"dtype", false, "ScalarType"},
    {"is_contiguous", false, "bool"},
    {"is_floating_point", false, "bool"},
    {"layout", false, "Layout"},
    {"numel", false, "int"},
    {"options", false, ""},
    {"scalar_type", false, "ScalarType"},
    {"size", true, "int"},
    {"sizes", false, "int[]"},
    {"storage_offset", false, "int"},
    {"stride", true, "int"},
    {"strides", false, "int[]"},
};

// The functions of <cmath>, on numbers.
inline constexpr std::string_view kNumberFunctions[] = {
#define SY_NUMBER_FUNCTION(name) #name,
#include "lang/number_functions.inc"
#undef SY_NUMBER_FUNCTION
};

// The operator that an operator of the language stands for.
inline std::string_view operator_name(Op op) {
  static constexpr std::string_view kNames[] = {
      "neg",          "logical_not", "add", "sub",         "mul",       "div",
      "floor_divide", "remainder",   "pow", "eq",          "ne",        "lt",
      "le",           "gt",          "ge",  "logical_and", "logical_or"};
  return kNames[static_cast<int>(op)];
}

// The type of a variable that goes through a list of such elements; "" if none
// can.
inline std::string loop_type(Type element) {
  if (element.is_optional()) {
    return element.element() == TypeKind::kTensor
               ? "const std::optional<Tensor>&"
               : "";
  }
  switch (element.kind()) {
    // The variable may be metadata where only these are read.
    case TypeKind::kTensor: return "const auto&";
    case TypeKind::kScalar: return "const Scalar&";
    case TypeKind::kInt:
    case TypeKind::kSymInt: return "int64_t";
    case TypeKind::kFloat:
    case TypeKind::kSymFloat: return "double";
    case TypeKind::kBool:
    case TypeKind::kSymBool: return "bool";
    default: return "";
  }
}

inline Type named(std::string_view type) {
  if (type == "int[]") return Type::list_of(TypeKind::kInt);
  return *Type::base_named(type);
}

}  // namespace sy::lang::detail
