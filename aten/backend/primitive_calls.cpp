#include "aten/backend/primitive_calls.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "aten/ops/factory.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/process/error.h"
#include "lang/primitive_operators.h"

namespace sy {

using lang::Prim;

Tensor call_operator(std::string_view name, std::vector<Value> args) {
  Value result;
  Dispatcher::singleton().find_or_throw(name).call_boxed(
      args.data(), args.size(), &result, 1);
  return Tensor(result.to_tensor());
}

Tensor PrimitiveCalls::number(const Scalar& value, ScalarType dtype) const {
  return sy::full({}, value, TensorOptions().dtype(dtype).device(device_));
}

Tensor PrimitiveCalls::select(const Tensor& where, const Tensor& a,
                              const Tensor& b) const {
  return run(Prim::select, where, a, b);
}

Tensor PrimitiveCalls::truth(const Tensor& a) const {
  return comparison(Prim::ne, a, number(0, a.scalar_type()));
}

Tensor PrimitiveCalls::run(Prim p, const Tensor& a, const Tensor& b,
                           const Tensor& c) const {
  const bool whole = !is_floating_type(compute_);
  switch (p) {
    case Prim::copy: return a;
    case Prim::from_bool: return a.to(compute_);
    case Prim::truth: return truth(a);
    case Prim::abs:
      if (compute_ == kBool) return a;
      break;
    case Prim::sub:
    case Prim::square:
    case Prim::sign:
    case Prim::fma:
    case Prim::clamp:
    case Prim::lerp:
    case Prim::remainder:
    case Prim::fmax:
    case Prim::fmin: return arithmetic(p, a, b, c);
    case Prim::floor:
    case Prim::round:
      if (whole) return a;
      break;
    case Prim::ceil:
    case Prim::trunc:
    case Prim::frac: return whole ? a : rounded(p, a);
    case Prim::ne:
    case Prim::gt:
    case Prim::ge:
    case Prim::isnan:
    case Prim::isinf:
    case Prim::isfinite:
    case Prim::signbit: return comparison(p, a, b);
    case Prim::logical_not:
    case Prim::logical_and:
    case Prim::logical_or:
    case Prim::logical_xor: return logical(p, a, b);
    case Prim::bitwise_not:
    case Prim::bitwise_or:
    case Prim::lcm: return integer(p, a, b);
    case Prim::gcd:
      if (compute_ == kBool) return run(Prim::maximum, a, b);
      break;
    case Prim::reciprocal:
    case Prim::rsqrt:
    case Prim::exp2:
    case Prim::log2:
    case Prim::log10:
    case Prim::sigmoid: return power(p, a);
    case Prim::sinh:
    case Prim::cosh:
    case Prim::tanh:
    case Prim::asinh:
    case Prim::acosh:
    case Prim::atanh: return hyperbolic(p, a);
    case Prim::tan:
    case Prim::asin:
    case Prim::acos:
    case Prim::atan: return trigonometric(p, a);
    case Prim::erfc:
    case Prim::i0:
    case Prim::i1:
    case Prim::bessel_k0:
    case Prim::bessel_k1:
    case Prim::hypot:
    case Prim::xlogy: return special(p, a, b);
    default: break;
  }
  const std::string_view name = lang::operator_of(p);
  SY_INTERNAL_ASSERT(!name.empty(), "no operators compute the primitive {}",
                     lang::kPrims[static_cast<int>(p)].name);
  std::vector<Value> args = {Value(a)};
  if (p == Prim::add) {
    args.insert(args.end(), {Value(b), Value(Scalar(1))});
    return call_operator(name, std::move(args));
  }
  const int n = arity(lang::kPrims[static_cast<int>(p)].type);
  if (n > 1) args.emplace_back(b);
  if (n > 2) args.emplace_back(c);
  return call_operator(name, std::move(args));
}

Tensor PrimitiveCalls::arithmetic(Prim p, const Tensor& a, const Tensor& b,
                                  const Tensor& c) const {
  switch (p) {
    case Prim::sub:
      return compute_ == kBool ? run(Prim::bitwise_xor, a, b)
                               : run(Prim::add, a, run(Prim::neg, b));
    case Prim::square: return run(Prim::mul, a, a);
    case Prim::sign: {
      if (compute_ == kBool) return a;
      const Tensor zero = number(0);
      return run(Prim::sub, run(Prim::from_bool, run(Prim::lt, zero, a)),
                 run(Prim::from_bool, run(Prim::lt, a, zero)));
    }
    case Prim::fma: return run(Prim::add, run(Prim::mul, a, b), c);
    case Prim::clamp: return run(Prim::minimum, run(Prim::maximum, a, b), c);
    case Prim::lerp: {
      const Tensor difference = run(Prim::sub, b, a);
      const Tensor from_a = run(Prim::fma, c, difference, a);
      const Tensor rest = run(Prim::sub, number(1), c);
      const Tensor from_b = run(Prim::sub, b, run(Prim::mul, difference, rest));
      return select(run(Prim::lt, c, number(0.5)), from_a, from_b);
    }
    case Prim::remainder: {
      const Tensor zero = number(0);
      const Tensor r = run(Prim::fmod, a, b);
      const Tensor other_sign = logical(
          Prim::logical_xor, run(Prim::lt, r, zero), run(Prim::lt, b, zero));
      return select(logical(Prim::logical_and, truth(r), other_sign),
                    run(Prim::add, r, b), r);
    }
    default: {  // fmax, fmin
      const Tensor both =
          run(p == Prim::fmax ? Prim::maximum : Prim::minimum, a, b);
      return select(run(Prim::isnan, a), b,
                    select(run(Prim::isnan, b), a, both));
    }
  }
}

Tensor PrimitiveCalls::rounded(Prim p, const Tensor& a) const {
  if (p == Prim::frac) return run(Prim::sub, a, rounded(Prim::trunc, a));
  const Tensor up = run(Prim::neg, run(Prim::floor, run(Prim::neg, a)));
  if (p == Prim::ceil) return up;
  return select(run(Prim::lt, a, number(0)), up, run(Prim::floor, a));
}

Tensor PrimitiveCalls::comparison(Prim p, const Tensor& a,
                                  const Tensor& b) const {
  const bool whole = !is_floating_type(compute_);
  const auto infinity = [&] {
    return number(std::numeric_limits<double>::infinity());
  };
  switch (p) {
    case Prim::ne: return logical(Prim::logical_not, run(Prim::eq, a, b), {});
    case Prim::gt: return run(Prim::lt, b, a);
    case Prim::ge: return run(Prim::le, b, a);
    case Prim::isnan: return comparison(Prim::ne, a, a);
    case Prim::isinf:
      return whole ? comparison(Prim::ne, a, a)
                   : run(Prim::eq, run(Prim::abs, a), infinity());
    case Prim::isfinite:
      return whole ? run(Prim::eq, a, a)
                   : run(Prim::lt, run(Prim::abs, a), infinity());
    default:  // signbit
      return run(Prim::lt, whole ? a : run(Prim::copysign, number(1), a),
                 number(0));
  }
}

Tensor PrimitiveCalls::logical(Prim p, const Tensor& a, const Tensor& b) const {
  switch (p) {
    case Prim::logical_not: return run(Prim::eq, a, number(false, kBool));
    case Prim::logical_and: return run(Prim::bitwise_and, a, b);
    case Prim::logical_or: return integer(Prim::bitwise_or, a, b);
    default: return run(Prim::bitwise_xor, a, b);
  }
}

Tensor PrimitiveCalls::integer(Prim p, const Tensor& a, const Tensor& b) const {
  switch (p) {
    case Prim::bitwise_not: {
      const Tensor ones = compute_ == kByte ? number(255) : number(-1);
      return run(Prim::bitwise_xor, a, compute_ == kBool ? number(true) : ones);
    }
    case Prim::bitwise_or:
      return run(Prim::bitwise_xor, run(Prim::bitwise_xor, a, b),
                 run(Prim::bitwise_and, a, b));
    default: {  // lcm
      if (compute_ == kBool) return run(Prim::bitwise_and, a, b);
      const Tensor divisor = run(Prim::gcd, a, b);
      const Tensor shared = run(Prim::maximum, divisor, number(1));
      return run(Prim::abs, run(Prim::mul, run(Prim::trunc_div, a, shared), b));
    }
  }
}

Tensor PrimitiveCalls::power(Prim p, const Tensor& a) const {
  switch (p) {
    case Prim::reciprocal: return run(Prim::div, number(1), a);
    case Prim::rsqrt: return run(Prim::div, number(1), run(Prim::sqrt, a));
    case Prim::exp2:
      return run(Prim::exp, run(Prim::mul, a, number(std::numbers::ln2)));
    case Prim::log2:
      return run(Prim::mul, run(Prim::log, a), number(std::numbers::log2e));
    case Prim::log10:
      return run(Prim::mul, run(Prim::log, a), number(std::numbers::log10e));
    default: {  // sigmoid
      const Tensor one = number(1);
      const Tensor e = run(Prim::exp, run(Prim::neg, a));
      return run(Prim::div, one, run(Prim::add, one, e));
    }
  }
}

Tensor PrimitiveCalls::hyperbolic(Prim p, const Tensor& a) const {
  const Tensor one = number(1), half = number(0.5), two = number(2);
  const Tensor size = run(Prim::abs, a);
  const auto with_sign = [&](const Tensor& t) {
    return run(Prim::copysign, t, a);
  };
  // exp(x) / 2 without an overflow where the quotient has none.
  const auto half_exp = [&](const Tensor& x) {
    const Tensor root = run(Prim::exp, run(Prim::mul, x, half));
    return run(Prim::mul, run(Prim::mul, root, half), root);
  };
  const auto large = [&](const Tensor& x) {  // log(2 x)
    return run(Prim::add, run(Prim::log, x), number(std::numbers::ln2));
  };
  switch (p) {
    case Prim::tanh: {
      const Tensor u =
          run(Prim::expm1, run(Prim::mul, size, run(Prim::neg, two)));
      return with_sign(
          run(Prim::div, run(Prim::neg, u), run(Prim::add, u, two)));
    }
    case Prim::sinh: {
      const Tensor u = run(Prim::expm1, size);
      const Tensor near =
          run(Prim::mul, half,
              run(Prim::add, u, run(Prim::div, u, run(Prim::add, u, one))));
      const Tensor far =
          run(Prim::sub, half_exp(size), half_exp(run(Prim::neg, size)));
      return with_sign(select(run(Prim::lt, size, one), near, far));
    }
    case Prim::cosh:
      return run(Prim::add, half_exp(size), half_exp(run(Prim::neg, size)));
    case Prim::asinh: {
      const Tensor square = run(Prim::square, size);
      const Tensor root = run(Prim::sqrt, run(Prim::add, square, one));
      const Tensor near = run(
          Prim::log1p, run(Prim::add, size,
                           run(Prim::div, square, run(Prim::add, one, root))));
      return with_sign(
          select(run(Prim::lt, size, number(1e8)), near, large(size)));
    }
    case Prim::acosh: {
      const Tensor t = run(Prim::sub, a, one);
      const Tensor root = run(Prim::sqrt, run(Prim::add, run(Prim::mul, two, t),
                                              run(Prim::square, t)));
      const Tensor near = run(Prim::log1p, run(Prim::add, t, root));
      return select(run(Prim::lt, a, number(1e8)), near, large(a));
    }
    default: {  // atanh
      const Tensor ratio =
          run(Prim::div, run(Prim::mul, two, size), run(Prim::sub, one, size));
      return with_sign(run(Prim::mul, half, run(Prim::log1p, ratio)));
    }
  }
}

Tensor PrimitiveCalls::trigonometric(Prim p, const Tensor& a) const {
  const Tensor one = number(1);
  if (p == Prim::tan) {
    return run(Prim::div, run(Prim::sin, a), run(Prim::cos, a));
  }
  if (p == Prim::atan) return run(Prim::atan2, a, one);
  const Tensor root = run(Prim::sqrt, run(Prim::mul, run(Prim::sub, one, a),
                                          run(Prim::add, one, a)));
  return p == Prim::asin ? run(Prim::atan2, a, root)
                         : run(Prim::atan2, root, a);
}

Tensor PrimitiveCalls::special(Prim p, const Tensor& a, const Tensor& b) const {
  const auto zero = [&] { return number(0); };
  switch (p) {
    case Prim::erfc: {
      const Tensor size = run(Prim::abs, a);
      const Tensor bell = run(Prim::exp, run(Prim::neg, run(Prim::square, a)));
      const Tensor e = run(Prim::mul, run(Prim::erfcx, size), bell);
      return select(run(Prim::lt, a, zero()), run(Prim::sub, number(2), e), e);
    }
    case Prim::i0:
    case Prim::i1: {
      const Tensor scaled = run(p == Prim::i0 ? Prim::i0e : Prim::i1e, a);
      return run(Prim::mul, scaled, run(Prim::exp, run(Prim::abs, a)));
    }
    case Prim::bessel_k0:
    case Prim::bessel_k1: {
      const Tensor scaled =
          run(p == Prim::bessel_k0 ? Prim::bessel_k0e : Prim::bessel_k1e, a);
      return run(Prim::mul, scaled, run(Prim::exp, run(Prim::neg, a)));
    }
    case Prim::hypot: {
      const Tensor x = run(Prim::abs, a), y = run(Prim::abs, b);
      const Tensor most = run(Prim::maximum, x, y);
      const Tensor ratio = run(Prim::div, run(Prim::minimum, x, y), most);
      const Tensor root =
          run(Prim::sqrt, run(Prim::add, number(1), run(Prim::square, ratio)));
      const Tensor infinite =
          logical(Prim::logical_or, run(Prim::isinf, x), run(Prim::isinf, y));
      const Tensor finite =
          select(run(Prim::eq, most, zero()), most, run(Prim::mul, most, root));
      return select(infinite, number(std::numeric_limits<double>::infinity()),
                    finite);
    }
    default: {  // xlogy
      const Tensor number_of_b = run(Prim::eq, b, b);
      const Tensor nothing =
          logical(Prim::logical_and, run(Prim::eq, a, zero()), number_of_b);
      return select(nothing, zero(), run(Prim::mul, a, run(Prim::log, b)));
    }
  }
}

}  // namespace sy
