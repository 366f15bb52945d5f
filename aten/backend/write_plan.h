#pragma once

#include <cstdint>
#include <vector>

#include "c10/dispatcher.h"
#include "c10/value.h"

namespace sy {

// What a call of an operator writes, and how the same is computed without
// writing. Worked out once for an operator, then read without a lock; valid as
// long as its definition.
struct SY_API WritePlan final : OperatorExtra {
  enum Kind : uint8_t {
    kPure,        // writes nothing
    kFunctional,  // `functional` computes what goes into the arguments
    kOnCopies,    // no such operator: the form writes fresh copies of them
    kGeometry,    // sizes, strides or storage change, and no element
  };
  Kind kind = kPure;

  // The arguments that are written, in the schema's order.
  std::vector<int8_t> written;
  // Result k of the form is this written argument; -1: a result of its own.
  std::vector<int8_t> returned;

  // Of kFunctional. Argument i of `functional` is the form's args[i], or a
  // FunctionalForm::Place.
  const OperatorEntry* functional = nullptr;
  std::vector<int8_t> args;
  std::vector<Value> defaults;  // of each, for kDefault
  // Result i of `functional` goes into the form's argument stored[i]; -1: it
  // is the form's own next result.
  std::vector<int8_t> stored;
};

SY_API const WritePlan& write_plan(const OperatorEntry& op);

// The arguments of the functional operator for a call of `op` with `args`;
// the plan's kind is kFunctional. They borrow nothing.
SY_API std::vector<Value> functional_arguments(const WritePlan& plan,
                                               const Value* args);

}  // namespace sy
