#pragma once

#include <cstdint>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "c10/tensor/value.h"

namespace sy {

// The arguments that a call of an operator writes, and a way to compute the
// same without writing. Computed once for an operator, then read without a
// lock. Valid as long as the definition of the operator.
struct SY_API WritePlan final : OperatorExtra {
  enum Kind : uint8_t {
    kPure,        // writes nothing
    kFunctional,  // `functional` computes the new elements
    kOnCopies,    // no such operator: the form writes to fresh copies
    kGeometry,    // sizes, strides or storage change, but no element
  };
  Kind kind = kPure;

  // The arguments that are written, in the schema's order.
  std::vector<int8_t> written;
  // Result k of the form is argument returned[k]; -1: a result of its own.
  std::vector<int8_t> returned;

  // For kFunctional. Argument i of `functional` is argument args[i] of the
  // form, or a FunctionalForm::Place.
  const OperatorEntry* functional = nullptr;
  std::vector<int8_t> args;
  std::vector<Value> defaults;  // of each argument, for kDefault
  // Result i of `functional` goes to argument stored[i] of the form; -1: it is
  // the next result of the form itself.
  std::vector<int8_t> stored;
};

SY_API const WritePlan& write_plan(const OperatorEntry& op);

// The arguments of the functional operator for a call of `op` with `args`. The
// plan's kind must be kFunctional. The values borrow nothing.
SY_API std::vector<Value> functional_arguments(const WritePlan& plan,
                                               const Value* args);

}  // namespace sy
