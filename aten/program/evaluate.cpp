#include "aten/program/evaluate.h"

#include "lang/program.h"

namespace sy::program {

namespace {

lang::Uniform number(const Uniform& u, ComputeType type) {
  switch (type) {
    case ComputeType::f32: return lang::Uniform::of(double{u.f32});
    case ComputeType::f64: return lang::Uniform::of(u.f64);
    case ComputeType::u8: return lang::Uniform::of(int64_t{u.u8});
    case ComputeType::i8: return lang::Uniform::of(int64_t{u.i8});
    case ComputeType::i16: return lang::Uniform::of(int64_t{u.i16});
    case ComputeType::i32: return lang::Uniform::of(int64_t{u.i32});
    case ComputeType::i64: return lang::Uniform::of(u.i64);
    default: return lang::Uniform::of(int64_t{u.u8 != 0});
  }
}

// The power of integers for a negative exponent, where uniforms give a
// fraction.
int64_t negative_power(int64_t base, int64_t exponent) {
  if (base == 1) return 1;
  return base == -1 ? (exponent & 1 ? -1 : 1) : 0;
}

}  // namespace

Uniform evaluate(lang::Prim prim, ComputeType type, Uniform a, Uniform b,
                 Uniform c) noexcept {
  using lang::PrimType;
  // ~1 is -2, which is not 0.
  if (type == ComputeType::b8 && prim == lang::Prim::bitwise_not) {
    prim = lang::Prim::logical_not;
  }
  const PrimType t = lang::kPrims[static_cast<int>(prim)].type;
  const int arity = lang::arity(t);
  const bool takes_bool = t == PrimType::B_B || t == PrimType::BB_B ||
                          t == PrimType::BTT_T || t == PrimType::B_T;
  const bool gives_bool = t == PrimType::T_B || t == PrimType::TT_B ||
                          t == PrimType::B_B || t == PrimType::BB_B;
  const auto operand = [&](const Uniform& u, int k) {
    if (k >= arity) return lang::Uniform();
    const bool is_bool = takes_bool && (k == 0 || t == PrimType::BB_B);
    return number(u, is_bool ? ComputeType::b8 : type);
  };
  const lang::Uniform x = operand(a, 0), y = operand(b, 1), z = operand(c, 2);
  if (prim == lang::Prim::pow && y.is_int && y.i < 0) {
    return make_uniform(type, false, negative_power(x.i, y.i));
  }
  // Elements take the root, which is no power at -0 and -inf.
  if (prim == lang::Prim::pow && is_floating(type)) {
    if (y.d == 0.5) prim = lang::Prim::sqrt;
    if (y.d == -0.5) prim = lang::Prim::rsqrt;
  }
  const lang::Uniform out = lang::eval_uniform(prim, x, y, z);
  return out.is_int ? make_uniform(type, gives_bool, out.i)
                    : make_uniform(type, gives_bool, out.d);
}

}  // namespace sy::program
