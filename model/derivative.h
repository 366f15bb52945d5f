#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/program.h"
#include "lang/tensor.h"
#include "model/model.h"

namespace sy::model {

// A value that a node keeps of one argument or result for its formulas.
struct Saved {
  enum Kind {
    kTensor,        // SavedTensor
    kOptional,      // SavedTensor of a Tensor?
    kList,          // SavedTensorList
    kOptionalList,  // SavedTensorList of a Tensor?[]
    kMetaList,      // SavedMeta of each of a Tensor[]
    kOptionalMeta,  // std::optional<SavedMeta> of a Tensor?
    kMeta,          // SavedMeta: sizes, dtype and device only
    kInts,          // SavedInts
    kOptionalInts,  // std::optional<SavedInts>
    kNumbers,       // std::vector of double or Scalar
    kBools,         // std::array of a bool[N]
    kString,        // std::string
    kOptionalString,
    kValue,  // as it is
  };
  std::string name;  // "other", "result"
  std::string cpp;   // the same in C++
  Kind kind;
  std::string type;  // the member's C++ type
  bool is_result = false;
  std::size_t result = 0;  // which
  // Positions in DerivativePlan::arguments of the gradients that read it.
  std::vector<std::size_t> readers;
};

// The gradient of one differentiable argument, or of several at once.
struct GradFormula {
  std::vector<std::size_t> targets;  // positions in DerivativePlan::arguments
  lang::Expr expr;                   // in the tensor typing
  lang::TensorCode code;
  // Operators and result types that the code needs.
  std::vector<std::string> operators;
  // The same as one element program, if that saves calls.
  std::optional<lang::Expr> fused;
  // The formula uses the geometry of a view.
  bool by_geometry = false;
  std::vector<std::string> names;  // free names, sorted
  // The argument that it is the gradient of, if only its metadata are read: the
  // edge to that argument knows them, and nothing is saved.
  std::string own;
  // The results, of several, whose gradients it reads, sorted.
  std::vector<std::size_t> results;
};

struct DerivativePlan {
  // Positions in the schema of the arguments that have a formula.
  std::vector<std::size_t> arguments;
  std::vector<GradFormula> formulas;
  std::vector<Saved> saved;
  // The results are never differentiable.
  bool non_differentiable = false;
  bool uses_grads = false;  // reads the gradients of several results
  bool empty() const { return formulas.empty(); }
  bool has_lists = false;  // some argument is a Tensor[]
};

// Checks and compiles the `derivative:` of an operator.
DerivativePlan plan_derivative(const Model& model, const Operator& op,
                               lang::Diagnostics& diagnostics);

// "result" of the only return; "result0" or its own name of one of several.
std::string result_name(const FunctionSchema& schema, std::size_t i);

}  // namespace sy::model
