#pragma once

#include <string_view>

#include "lang/primitives.h"

// How element programs are made of operators, for backends that have no kernel
// for an operator with such a program. Each primitive is an operator of aten
// or, in aten/backend/primitive_calls.cpp, a few other primitives. An operator
// that is named here is not made of others.

namespace sy::lang {

// Of each primitive, the column `call` of primitives.inc.
inline constexpr const char* kPrimitiveCalls[] = {
#define SY_PRIM(name, type, domain, value, call, ...) call,
#include "lang/primitives.inc"
};

// The operator of aten that computes a primitive, without aten::; "" if there
// is none.
constexpr std::string_view operator_of(Prim p) {
  const char* call = kPrimitiveCalls[static_cast<int>(p)];
  return call == nullptr ? "" : call;
}

// Whether operators can compute it.
constexpr bool has_operators(Prim p) {
  return kPrimitiveCalls[static_cast<int>(p)] != nullptr;
}

struct ReductionOperator {
  Prim prim;
  std::string_view name;  // without aten::
};

// The reductions whose `combine` is one primitive.
inline constexpr ReductionOperator kReductionOperators[] = {
    {Prim::add, "sum.dim_IntList"},
    {Prim::mul, "prod.dim_int"},
    {Prim::maximum, "amax"},
    {Prim::minimum, "amin"},
};

// "" if there is none.
constexpr std::string_view reduction_of(Prim p) {
  for (const ReductionOperator& o : kReductionOperators) {
    if (o.prim == p) return o.name;
  }
  return "";
}

// Whether other operators are made of this one, and it is not made of others.
constexpr bool is_primitive_operator(std::string_view name) {
  for (const char* call : kPrimitiveCalls) {
    if (call != nullptr && *call != '\0' && call == name) return true;
  }
  for (const ReductionOperator& o : kReductionOperators) {
    if (o.name == name) return true;
  }
  return false;
}

}  // namespace sy::lang
