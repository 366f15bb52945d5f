#include "backends/pjrt/primitives.h"

#include <cmath>
#include <limits>
#include <string_view>

#include "aten/program/primitives.h"
#include "c10/process/error.h"

namespace sy::pjrt {

namespace {

using lang::Prim;
using program::ComputeType;

// Operations of one name: of floats, of integers, of bools. nullptr: not one.
struct Plain {
  const char* floating = nullptr;
  const char* integer = nullptr;
  const char* boolean = nullptr;
};

constexpr const char* kCopy = "";

// Not atan and atan2: XLA's CPU plugin (0.11.2) gives other elements for them
// on tensors of some hundred elements. They are kernels of ours.
Plain plain(Prim p) {
  switch (p) {
    case Prim::copy: return {kCopy, kCopy, kCopy};
    case Prim::neg: return {"stablehlo.negate", "stablehlo.negate", nullptr};
    case Prim::abs: return {"stablehlo.abs", "stablehlo.abs", kCopy};
    case Prim::sign: return {nullptr, nullptr, kCopy};
    case Prim::sqrt: return {"stablehlo.sqrt"};
    case Prim::rsqrt: return {"stablehlo.rsqrt"};
    case Prim::exp: return {"stablehlo.exponential"};
    case Prim::expm1: return {"stablehlo.exponential_minus_one"};
    case Prim::log: return {"stablehlo.log"};
    case Prim::log1p: return {"stablehlo.log_plus_one"};
    case Prim::sin: return {"stablehlo.sine"};
    case Prim::cos: return {"stablehlo.cosine"};
    case Prim::tan: return {"stablehlo.tan"};
    case Prim::tanh: return {"stablehlo.tanh"};
    case Prim::sigmoid: return {"stablehlo.logistic"};
    case Prim::asin: return {"chlo.asin"};
    case Prim::acos: return {"chlo.acos"};
    case Prim::sinh: return {"chlo.sinh"};
    case Prim::cosh: return {"chlo.cosh"};
    case Prim::asinh: return {"chlo.asinh"};
    case Prim::acosh: return {"chlo.acosh"};
    case Prim::atanh: return {"chlo.atanh"};
    case Prim::erf: return {"chlo.erf"};
    case Prim::erfc: return {"chlo.erfc"};
    case Prim::erfinv: return {"chlo.erf_inv"};
    case Prim::lgamma: return {"chlo.lgamma"};
    case Prim::floor: return {"stablehlo.floor", kCopy, kCopy};
    case Prim::ceil: return {"stablehlo.ceil", kCopy, kCopy};
    case Prim::round: return {"stablehlo.round_nearest_even", kCopy, kCopy};
    case Prim::trunc: return {nullptr, kCopy, kCopy};
    case Prim::bitwise_not: return {nullptr, "stablehlo.not", "stablehlo.not"};
    case Prim::logical_not: return {nullptr, nullptr, "stablehlo.not"};
    case Prim::add: return {"stablehlo.add", "stablehlo.add", "stablehlo.or"};
    case Prim::sub:
      return {"stablehlo.subtract", "stablehlo.subtract", "stablehlo.xor"};
    case Prim::mul:
      return {"stablehlo.multiply", "stablehlo.multiply", "stablehlo.and"};
    case Prim::div: return {"stablehlo.divide"};
    case Prim::fmod: return {"stablehlo.remainder"};
    case Prim::pow: return {"stablehlo.power"};
    case Prim::nextafter: return {"chlo.next_after"};
    case Prim::maximum:
      return {"stablehlo.maximum", "stablehlo.maximum", "stablehlo.or"};
    case Prim::minimum:
      return {"stablehlo.minimum", "stablehlo.minimum", "stablehlo.and"};
    case Prim::fmax: return {nullptr, "stablehlo.maximum", "stablehlo.or"};
    case Prim::fmin: return {nullptr, "stablehlo.minimum", "stablehlo.and"};
    case Prim::bitwise_and: return {nullptr, "stablehlo.and", "stablehlo.and"};
    case Prim::bitwise_or: return {nullptr, "stablehlo.or", "stablehlo.or"};
    case Prim::bitwise_xor: return {nullptr, "stablehlo.xor", "stablehlo.xor"};
    case Prim::logical_and: return {nullptr, nullptr, "stablehlo.and"};
    case Prim::logical_or: return {nullptr, nullptr, "stablehlo.or"};
    case Prim::logical_xor: return {nullptr, nullptr, "stablehlo.xor"};
    default: return {};
  }
}

const char* direction(Prim p) {
  switch (p) {
    case Prim::eq: return "EQ";
    case Prim::ne: return "NE";
    case Prim::lt: return "LT";
    case Prim::le: return "LE";
    case Prim::gt: return "GT";
    case Prim::ge: return "GE";
    default: return nullptr;
  }
}

bool takes_bools(Prim p) {
  const auto t = lang::kPrims[static_cast<int>(p)].type;
  return t == lang::PrimType::B_B || t == lang::PrimType::BB_B;
}

const char* plain_name(Prim p, ComputeType type) {
  if (p == Prim::abs && type == ComputeType::u8) return kCopy;
  const Plain names = plain(p);
  if (type == ComputeType::b8 || takes_bools(p)) return names.boolean;
  return program::is_floating(type) ? names.floating : names.integer;
}

class Steps {
 public:
  Steps(Builder& b, ComputeType type)
      : b_(b),
        floating_(program::is_floating(type)),
        dtype_(program::storage_of(type)),
        type_(type) {}

  Ssa run(Prim p, const Ssa& x, const Ssa& y, const Ssa& z) {
    const int n = lang::arity(lang::kPrims[static_cast<int>(p)].type);
    if (const char* const d = direction(p)) return b_.compare(d, x, y);
    if (const char* const name = plain_name(p, type_)) {
      if (*name == '\0') return x;
      const bool chlo = std::string_view(name).starts_with("chlo");
      if (n == 1) return chlo ? b_.chlo(name, x) : b_.unary(name, x);
      return chlo ? b_.chlo(name, x, y) : b_.binary(name, x, y);
    }
    return composed(p, x, y, z);
  }

 private:
  Ssa mul(const Ssa& x, const Ssa& y) { return run(Prim::mul, x, y, {}); }
  Ssa add(const Ssa& x, const Ssa& y) { return run(Prim::add, x, y, {}); }
  Ssa zero(const Ssa& x) { return b_.number(x.dtype, x.sizes, int64_t{0}); }
  Ssa is_nan(const Ssa& x) { return b_.compare("NE", x, x); }
  Ssa truth(const Ssa& x) { return b_.compare("NE", x, zero(x)); }
  Ssa trunc(const Ssa& x) {
    const Ssa negative = b_.compare("LT", x, zero(x));
    return b_.select(negative, b_.unary("stablehlo.ceil", x),
                     b_.unary("stablehlo.floor", x));
  }

  // The sign bit as a bool.
  Ssa signbit(const Ssa& x) {
    if (dtype_ == kBool || dtype_ == kByte) {
      return b_.number(kBool, x.sizes, int64_t{0});
    }
    if (!floating_) return b_.compare("LT", x, zero(x));
    const Ssa bits = b_.bitcast(x, dtype_ == kDouble ? kLong : kInt);
    return b_.compare("LT", bits, zero(bits));
  }

  Ssa sign(const Ssa& x) {
    const auto one = [&](const char* d) {
      return b_.convert(b_.compare(d, x, zero(x)), dtype_);
    };
    return b_.binary("stablehlo.subtract", one("GT"), one("LT"));
  }

  // The sign of the divisor.
  Ssa remainder(const Ssa& x, const Ssa& y) {
    const Ssa r = b_.binary("stablehlo.remainder", x, y);
    const Ssa other = b_.binary("stablehlo.xor", b_.compare("LT", r, zero(r)),
                                b_.compare("LT", y, zero(y)));
    const Ssa moved = b_.binary("stablehlo.and", other, truth(r));
    return b_.select(moved, b_.binary("stablehlo.add", r, y), r);
  }

  Ssa hypot(const Ssa& x, const Ssa& y) {
    const Ssa a = b_.unary("stablehlo.abs", x),
              c = b_.unary("stablehlo.abs", y);
    const Ssa large = b_.binary("stablehlo.maximum", a, c);
    const Ssa small = b_.binary("stablehlo.minimum", a, c);
    const Ssa ratio = b_.binary("stablehlo.divide", small, large);
    const Ssa root =
        b_.unary("stablehlo.sqrt", add(b_.like(x, 1.0), mul(ratio, ratio)));
    const Ssa infinity = b_.like(x, std::numeric_limits<double>::infinity());
    const Ssa infinite =
        b_.binary("stablehlo.or", b_.compare("EQ", a, infinity),
                  b_.compare("EQ", c, infinity));
    const Ssa finite = b_.select(b_.compare("EQ", large, zero(large)), large,
                                 mul(large, root));
    return b_.select(infinite, infinity, finite);
  }

  // x, but y where x is NaN; `op` where none is.
  Ssa dropping_nan(const char* op, const Ssa& x, const Ssa& y) {
    const Ssa both = b_.binary(op, x, y);
    return b_.select(is_nan(x), y, b_.select(is_nan(y), x, both));
  }

  Ssa lerp(const Ssa& from, const Ssa& to, const Ssa& weight) {
    const Ssa difference = b_.binary("stablehlo.subtract", to, from);
    const Ssa rest =
        b_.binary("stablehlo.subtract", b_.like(weight, 1.0), weight);
    const Ssa near = b_.compare("LT", b_.unary("stablehlo.abs", weight),
                                b_.like(weight, 0.5));
    return b_.select(
        near, add(from, mul(weight, difference)),
        b_.binary("stablehlo.subtract", to, mul(difference, rest)));
  }

  // Shifts integers. All bits go if y is out of range.
  Ssa shift(const char* op, const Ssa& x, const Ssa& y) {
    const auto width = static_cast<int64_t>(8 * element_size(dtype_));
    Ssa in = b_.compare("LT", y, b_.number(y.dtype, y.sizes, width));
    if (dtype_ != kByte) {
      in = b_.binary("stablehlo.and", in, b_.compare("GE", y, zero(y)));
    }
    const bool arithmetic = std::string_view(op).ends_with("arithmetic");
    const Ssa most = b_.number(y.dtype, y.sizes, width - 1);
    const Ssa out = arithmetic ? b_.binary(op, x, most) : zero(x);
    return b_.select(in, b_.binary(op, x, b_.select(in, y, most)), out);
  }

  Ssa composed(Prim p, const Ssa& x, const Ssa& y, const Ssa& z) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    switch (p) {
      case Prim::sign: return sign(x);
      case Prim::square: return mul(x, x);
      case Prim::reciprocal:
        return b_.binary("stablehlo.divide", b_.like(x, 1.0), x);
      case Prim::exp2: return b_.binary("stablehlo.power", b_.like(x, 2.0), x);
      case Prim::log2:
        return b_.binary("stablehlo.divide", b_.unary("stablehlo.log", x),
                         b_.like(x, std::log(2.0)));
      case Prim::log10:
        return b_.binary("stablehlo.divide", b_.unary("stablehlo.log", x),
                         b_.like(x, std::log(10.0)));
      case Prim::trunc: return trunc(x);
      case Prim::frac: return b_.binary("stablehlo.subtract", x, trunc(x));
      case Prim::trunc_div: return trunc(b_.binary("stablehlo.divide", x, y));
      case Prim::remainder: return remainder(x, y);
      case Prim::hypot: return hypot(x, y);
      case Prim::copysign: {
        const Ssa a = b_.unary("stablehlo.abs", x);
        return b_.select(signbit(y), b_.unary("stablehlo.negate", a), a);
      }
      case Prim::fmax: return dropping_nan("stablehlo.maximum", x, y);
      case Prim::fmin: return dropping_nan("stablehlo.minimum", x, y);
      case Prim::xlogy: {
        const Ssa product = mul(x, b_.unary("stablehlo.log", y));
        const Ssa none = b_.compare("EQ", x, zero(x));
        return b_.select(is_nan(y), y, b_.select(none, zero(x), product));
      }
      case Prim::shift_left: return shift("stablehlo.shift_left", x, y);
      case Prim::shift_right:
        return shift(dtype_ == kByte ? "stablehlo.shift_right_logical"
                                     : "stablehlo.shift_right_arithmetic",
                     x, y);
      case Prim::fma: return add(mul(x, y), z);
      case Prim::clamp:
        return run(Prim::minimum, run(Prim::maximum, x, y, {}), z, {});
      case Prim::lerp: return lerp(x, y, z);
      case Prim::isnan:
        return floating_ ? is_nan(x) : b_.number(kBool, x.sizes, int64_t{0});
      case Prim::isinf:
        return floating_ ? b_.compare("EQ", b_.unary("stablehlo.abs", x),
                                      b_.like(x, kInfinity))
                         : b_.number(kBool, x.sizes, int64_t{0});
      case Prim::isfinite:
        return floating_ ? b_.is_finite(x)
                         : b_.number(kBool, x.sizes, int64_t{1});
      case Prim::signbit: return signbit(x);
      case Prim::truth: return dtype_ == kBool ? x : truth(x);
      case Prim::select: return b_.select(x, y, z);
      case Prim::from_bool: return b_.convert(x, dtype_);
      default: SY_INTERNAL_ASSERT(false, "a primitive without a lowering");
    }
    return {};
  }

  Builder& b_;
  const bool floating_;
  const ScalarType dtype_;
  const ComputeType type_;
};

bool is_composed(Prim p, ComputeType type) {
  const bool floating = program::is_floating(type);
  switch (p) {
    case Prim::reciprocal:
    case Prim::exp2:
    case Prim::log2:
    case Prim::log10:
    case Prim::trunc:
    case Prim::frac:
    case Prim::trunc_div:
    case Prim::remainder:
    case Prim::hypot:
    case Prim::copysign:
    case Prim::xlogy:
    case Prim::lerp: return floating;
    case Prim::shift_left:
    case Prim::shift_right: return !floating && type != ComputeType::b8;
    case Prim::sign:
    case Prim::square:
    case Prim::fmax:
    case Prim::fmin:
    case Prim::fma:
    case Prim::clamp:
    case Prim::isnan:
    case Prim::isinf:
    case Prim::isfinite:
    case Prim::signbit:
    case Prim::truth:
    case Prim::select:
    case Prim::from_bool: return true;
    default: return direction(p) != nullptr;
  }
}

}  // namespace

bool is_lowered(const program::Program& p, ComputeType type) {
  for (int i = 0; i < p.n_steps; ++i) {
    const Prim op = p.steps[i].op;
    if (plain_name(op, type) == nullptr && !is_composed(op, type)) return false;
  }
  return true;
}

std::vector<Ssa> lower(Builder& b, const program::Program& p, ComputeType type,
                       std::vector<Ssa> inputs,
                       const std::vector<Ssa>& uniforms) {
  std::vector<Ssa> registers = std::move(inputs);
  registers.insert(registers.end(), uniforms.begin(), uniforms.end());
  registers.resize(p.n_registers);
  Steps steps(b, type);
  for (int i = 0; i < p.n_steps; ++i) {
    const program::Step& s = p.steps[i];
    registers[s.dst] =
        steps.run(s.op, registers[s.a], registers[s.b], registers[s.c]);
  }
  std::vector<Ssa> results;
  for (int i = 0; i < p.n_results; ++i) {
    results.push_back(registers[p.results[i].reg]);
  }
  return results;
}

}  // namespace sy::pjrt
