#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aten/backend/fused_pointwise.h"
#include "model/form_plan.h"
#include "runtime/loader/operator_state.h"

namespace sy::runtime {

// A formula as one program.
struct FusedFormula {
  PointwiseData data;
  // The names of the environment that its inputs and then its scalars are read
  // from.
  std::vector<int> reads;
  FusedPointwise run{data.op()};

  FusedFormula(const model::PointwiseParts& parts, const FunctionSchema& schema,
               const char* name)
      : data(parts, schema, name) {}
  ~FusedFormula() { run.clear(); }
};

// The `derivative:` of an operator, ready to run.
struct Gradient {
  struct Formula {
    std::vector<size_t> targets;  // positions in `arguments`
    bool is_list = false;         // the one target is a Tensor[]
    bool by_geometry = false;
    bool reads_grad = false, reads_grads = false;
    int own = -1;  // the name of the target itself, known by its edge
    std::vector<size_t> results;  // of several: whose gradients are read
    std::vector<size_t> reads;    // positions in `saved`
    std::optional<PlanProgram> program;
    std::unique_ptr<FusedFormula> fused;  // the same as one program
  };
  // The parts of model::Saved that calls need.
  struct Kept {
    InternedString name;
    model::Saved::Kind kind;
    bool is_result;
    int place;  // among the results, or the arguments of the base form
    std::vector<size_t> readers;
  };
  std::string name;  // of the formulas, for messages
  // Positions in the base form of the arguments that have a formula.
  std::vector<size_t> arguments;
  std::vector<Kept> saved;
  bool uses_grads = false;
  size_t names = 0;  // of the environment of formulas
  std::vector<Formula> formulas;
};

// `name`, of the operator, outlives the result. Throws lang::LangError.
std::unique_ptr<Gradient> make_gradient(model::DerivativePlan plan,
                                        const model::Operator& op,
                                        const char* name,
                                        const FindCallee& find);

// The kernel of the Autograd key; null where no kernel of our own is needed.
BoxedFunction gradient_kernel(model::FormGradient gradient);

}  // namespace sy::runtime
