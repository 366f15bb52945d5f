#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "c10/schema/definition.h"
#include "model/model.h"

// The forms of an operator that write, as calls of its functional form: printed
// by sygen, filled in by the loader of schemas.

namespace sy::model {

// The source of the operator's argument `a` if it is called for a form: the
// position of the form's own, or a FormPlaces::Place.
std::int8_t place_of(const Argument& a, const FunctionSchema& form);

// The positions in a FunctionalForm (c10/dispatch/operator_def.h).
struct FunctionalPlaces {
  std::vector<std::int8_t> args;
  std::vector<std::int8_t> written;
};

// The places of the in-place or out= form of an operator whose entry is
// functional; nullopt for any other overload.
std::optional<FunctionalPlaces> functional_places(const Operator& op,
                                                  const Overload& form);

// Whether a form that stores the functional result gives a tensor that it
// resizes the layout of that result.
bool stores_as_laid_out(const Operator& op);

// The effects of an overload on its arguments: flags of OperatorDef, as far as
// no other says the same (kInplace, kOut; kView).
struct Effects {
  bool writes = false;    // kWrites
  bool aliases = false;   // kAliases
  bool geometry = false;  // kGeometry
};
Effects effects_of(const Operator& op, const Overload& o);

}  // namespace sy::model
