#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/torch/formula.h"
#include "codegen/torch/model.h"

// derivatives.yaml.

namespace sy::codegen::torch {

struct DerivativeFormula {
  enum class Kind : std::uint8_t {
    kBackward,
    kNonDifferentiable,
    kForward,         // of a result, from values `x_p` and tangents `x_t`
    kAutoLinear,      // forward: the function, of the tangents
    kAutoElementWise  // forward: the backward formula, of the tangent
  };

  std::vector<Text> names;  // arguments; results if it is a forward one
  Kind kind = Kind::kBackward;
  Text text;
  FormulaUses uses;

  bool is_forward() const { return kind >= Kind::kForward; }
};

// The formulas for one dispatch key; "Default" without `dispatch:`.
struct DerivativeSection {
  Text key;
  std::vector<DerivativeFormula> formulas;
};

struct Derivative {
  explicit Derivative(FunctionSchema s) : schema(std::move(s)) {}

  FunctionSchema schema;  // as given in `name:`
  Text name;
  // One for each result, or fewer: the others are not differentiable.
  std::optional<std::vector<bool>> output_differentiability;
  // A condition in place of a list.
  std::optional<Text> differentiability_condition;
  std::vector<DerivativeSection> sections;
  Location at;
  Location differentiability_at;

  // "result", "result0" … or the names that are given.
  std::vector<std::string> result_names() const;
};

std::vector<Derivative> read_derivatives(const lang::YamlNode& root,
                                         Diagnostics& diagnostics);

}  // namespace sy::codegen::torch
