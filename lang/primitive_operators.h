#pragma once

#include <string_view>

#include "lang/primitives.h"

// How element programs are made of operators, for backends that have no kernel
// for an operator with such a program. Each primitive is an operator of aten
// or, in aten/backend/primitive_calls.cpp, a few other primitives. An operator
// that is named here is not made of others.

namespace sy::lang {

struct PrimitiveOperator {
  Prim prim;
  std::string_view name;  // without aten::
};

inline constexpr PrimitiveOperator kPrimitiveOperators[] = {
    {Prim::abs, "abs"},
    {Prim::add, "add.Tensor"},
    {Prim::airy_ai, "special_airy_ai"},
    {Prim::atan2, "atan2"},
    {Prim::bessel_j0, "special_bessel_j0"},
    {Prim::bessel_j1, "special_bessel_j1"},
    {Prim::bessel_k0e, "special_scaled_modified_bessel_k0"},
    {Prim::bessel_k1e, "special_scaled_modified_bessel_k1"},
    {Prim::bessel_y0, "special_bessel_y0"},
    {Prim::bessel_y1, "special_bessel_y1"},
    {Prim::bitwise_and, "bitwise_and.Tensor"},
    {Prim::bitwise_xor, "bitwise_xor.Tensor"},
    {Prim::chebyshev_t, "special_chebyshev_polynomial_t"},
    {Prim::chebyshev_u, "special_chebyshev_polynomial_u"},
    {Prim::chebyshev_v, "special_chebyshev_polynomial_v"},
    {Prim::chebyshev_w, "special_chebyshev_polynomial_w"},
    {Prim::copysign, "copysign.Tensor"},
    {Prim::cos, "cos"},
    {Prim::digamma, "digamma"},
    {Prim::div, "div.Tensor"},
    {Prim::eq, "eq.Tensor"},
    {Prim::erf, "erf"},
    {Prim::erfcx, "special_erfcx"},
    {Prim::erfinv, "erfinv"},
    {Prim::exp, "exp"},
    {Prim::expm1, "expm1"},
    {Prim::floor, "floor"},
    {Prim::floor_div, "floor_divide"},
    {Prim::fmod, "fmod.Tensor"},
    {Prim::gcd, "gcd"},
    {Prim::hermite_h, "special_hermite_polynomial_h"},
    {Prim::hermite_he, "special_hermite_polynomial_he"},
    {Prim::i0e, "special_i0e"},
    {Prim::i1e, "special_i1e"},
    {Prim::igamma, "igamma"},
    {Prim::igammac, "igammac"},
    {Prim::laguerre_l, "special_laguerre_polynomial_l"},
    {Prim::le, "le.Tensor"},
    {Prim::legendre_p, "special_legendre_polynomial_p"},
    {Prim::lgamma, "lgamma"},
    {Prim::log, "log"},
    {Prim::log1p, "log1p"},
    {Prim::lt, "lt.Tensor"},
    {Prim::maximum, "maximum"},
    {Prim::minimum, "minimum"},
    {Prim::mul, "mul.Tensor"},
    {Prim::ndtri, "special_ndtri"},
    {Prim::neg, "neg"},
    {Prim::nextafter, "nextafter"},
    {Prim::pow, "pow.Tensor_Tensor"},
    {Prim::round, "round"},
    {Prim::select, "where.self"},
    {Prim::shift_left, "bitwise_left_shift.Tensor"},
    {Prim::shift_right, "bitwise_right_shift.Tensor"},
    {Prim::sin, "sin"},
    {Prim::sqrt, "sqrt"},
    {Prim::trunc_div, "_div_trunc"},
    {Prim::zeta, "special_zeta"},
};

// The reductions whose `combine` is one primitive.
inline constexpr PrimitiveOperator kReductionOperators[] = {
    {Prim::add, "sum.dim_IntList"},
    {Prim::mul, "prod.dim_int"},
    {Prim::maximum, "amax"},
    {Prim::minimum, "amin"},
};

// "" if there is none.
constexpr std::string_view operator_of(Prim p) {
  for (const PrimitiveOperator& o : kPrimitiveOperators) {
    if (o.prim == p) return o.name;
  }
  return "";
}
constexpr std::string_view reduction_of(Prim p) {
  for (const PrimitiveOperator& o : kReductionOperators) {
    if (o.prim == p) return o.name;
  }
  return "";
}

// Whether operators can compute it.
constexpr bool has_operators(Prim p) { return p != Prim::polygamma; }

// Whether other operators are made of this one, and it is not made of others.
constexpr bool is_primitive_operator(std::string_view name) {
  for (const PrimitiveOperator& o : kPrimitiveOperators) {
    if (o.name == name) return true;
  }
  for (const PrimitiveOperator& o : kReductionOperators) {
    if (o.name == name) return true;
  }
  return false;
}

}  // namespace sy::lang
