#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "c10/schema/definition.h"
#include "codegen/model.h"

// How the forms of an operator that write are calls of its functional form:
// printed by sygen, filled in by the loader of schemas.

namespace sy::codegen {

// Where the operator has its argument `a` from if it is called for a form: the
// position of the form's own, or a FormPlaces::Place.
std::int8_t place_of(const Argument& a, const FunctionSchema& form);

// As FunctionalForm (c10/operator_def.h) has them.
struct FunctionalPlaces {
  std::vector<std::int8_t> args;
  std::vector<std::int8_t> written;
};

// Of the in-place or out= form of an operator whose entry is functional;
// nullopt for any other overload.
std::optional<FunctionalPlaces> functional_places(const Operator& op,
                                                  const Overload& form);

// Whether a form that stores the functional result lays out what it resizes as
// that result is.
bool stores_as_laid_out(const Operator& op);

// What an overload does to its arguments: flags of OperatorDef, as far as no
// other says the same (kInplace, kOut; kView).
struct Effects {
  bool writes = false;    // kWrites
  bool aliases = false;   // kAliases
  bool geometry = false;  // kGeometry
};
Effects effects_of(const Operator& op, const Overload& o);

}  // namespace sy::codegen
