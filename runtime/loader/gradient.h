#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aten/backend/fused_pointwise.h"
#include "codegen/derivative.h"
#include "runtime/loader/operator_state.h"

namespace sy::runtime {

// A formula as one program.
struct FusedFormula {
  PointwiseData data;
  FusedPointwise run{data.op()};

  FusedFormula(const codegen::PointwiseParts& parts,
               const FunctionSchema& schema)
      : data(parts, schema) {}
  ~FusedFormula() { run.clear(); }
};

// The `derivative:` of an operator, ready to run.
struct Gradient {
  struct Formula {
    std::vector<size_t> targets;  // positions in `arguments`
    bool is_list = false;         // the one target is a Tensor[]
    bool by_geometry = false;
    bool reads_grad = false, reads_grads = false;
    std::vector<size_t> results;  // of several: whose gradients are read
    int own = -1;  // the name of the target itself, known by its edge
    std::vector<size_t> reads;  // positions in `saved`
    std::optional<TensorProgram> program;
    // The same as one program, and what it reads: names of the environment,
    // -1 for grad.
    std::unique_ptr<FusedFormula> fused;
    std::vector<int> fused_inputs, fused_scalars;
  };
  // Of codegen::Saved what calls need.
  struct Kept {
    std::string name;
    codegen::Saved::Kind kind;
    bool is_result;
    size_t result;
    std::vector<size_t> readers;
  };
  // Positions in the base form of the arguments that have a formula.
  std::vector<size_t> arguments;
  std::vector<Kept> saved;
  bool non_differentiable = false, uses_grads = false;
  size_t names = 0;  // of the environment of formulas
  std::vector<Formula> formulas;
  // Of each saved argument: its position in the base form; -1 for results.
  std::vector<int> saved_arguments;
};

// Throws lang::LangError.
std::unique_ptr<Gradient> make_gradient(codegen::DerivativePlan plan,
                                        const codegen::Operator& op,
                                        const FindCallee& find);

// Kernels of the Autograd key.
BoxedFunction record_kernel();
// Of the in-place form of an operator without a gradient.
BoxedFunction overwrite_kernel();
// Of out= forms: refuses to be recorded.
BoxedFunction reject_kernel();

}  // namespace sy::runtime
