#include "lang/dag.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace sy::lang {
namespace {

bool is_commutative(Prim p) {
  switch (p) {
    case Prim::add:
    case Prim::mul:
    case Prim::maximum:
    case Prim::minimum:
    case Prim::fmax:
    case Prim::fmin:
    case Prim::hypot:
    case Prim::bitwise_and:
    case Prim::bitwise_or:
    case Prim::bitwise_xor:
    case Prim::gcd:
    case Prim::lcm:
    case Prim::eq:
    case Prim::ne:
    case Prim::logical_and:
    case Prim::logical_or:
    case Prim::logical_xor: return true;
    default: return false;
  }
}

bool takes_bool(PrimType t, int argument) {
  return t == PrimType::B_B || t == PrimType::BB_B || t == PrimType::B_T ||
         (t == PrimType::BTT_T && argument == 0);
}

RegClass result_class(PrimType t) {
  return t == PrimType::T_B || t == PrimType::TT_B || t == PrimType::B_B ||
                 t == PrimType::BB_B
             ? RegClass::kBool
             : RegClass::kValue;
}

}  // namespace

int Dag::add(Value v) {
  const auto bits = v.constant.is_int
                        ? static_cast<std::uint64_t>(v.constant.i)
                        : std::bit_cast<std::uint64_t>(v.constant.d);
  std::array<int, 3> args = v.args;
  if (v.kind == Kind::kOp && is_commutative(v.op) && args[0] > args[1]) {
    std::swap(args[0], args[1]);
  }
  const int tag = static_cast<int>(v.kind) * 1024 + static_cast<int>(v.op) * 4 +
                  static_cast<int>(v.reg_class) * 2 + v.constant.is_int;
  const Key key{tag, v.index, args[0], args[1], args[2], bits, v.uniform};
  const auto [it, inserted] =
      known_.try_emplace(key, static_cast<int>(values_.size()));
  if (inserted) values_.push_back(v);
  return it->second;
}

int Dag::input(int index, RegClass as) {
  const bool as_bool = as == RegClass::kBool;
  return add({.kind = as_bool ? Kind::kBoolInput : Kind::kInput,
              .reg_class = as,
              .index = index});
}

int Dag::scalar(ScalarInput input, bool is_bool) {
  const auto it = std::find(scalars_.begin(), scalars_.end(), input);
  const int index = static_cast<int>(it - scalars_.begin());
  if (it == scalars_.end()) scalars_.push_back(std::move(input));
  return add({.kind = Kind::kScalar,
              .uniform = true,
              .reg_class = is_bool ? RegClass::kBool : RegClass::kValue,
              .index = index});
}

int Dag::constant(Uniform value, bool is_bool) {
  return add({.kind = Kind::kConstant,
              .uniform = true,
              .reg_class = is_bool ? RegClass::kBool : RegClass::kValue,
              .constant = value});
}

bool Dag::is_constant(int v, double value) const {
  return values_[v].kind == Kind::kConstant &&
         values_[v].constant.as_double() == value;
}

int Dag::as_value(int v) {
  const Value& x = values_[v];
  if (x.reg_class == RegClass::kValue) return v;
  if (x.kind == Kind::kBoolInput) return input(x.index, RegClass::kValue);
  // A uniform truth value is a number as it is.
  if (x.kind == Kind::kConstant) return constant(x.constant, false);
  return op(Prim::from_bool, v);
}

int Dag::as_bool(int v) {
  const Value& x = values_[v];
  if (x.reg_class == RegClass::kBool) return v;
  if (x.kind == Kind::kInput) return input(x.index, RegClass::kBool);
  if (x.kind == Kind::kOp && x.op == Prim::from_bool) return x.args[0];
  return op(Prim::truth, v);
}

int Dag::power(int base, int exponent) {
  if (values_[exponent].kind != Kind::kConstant || values_[base].uniform) {
    return -1;
  }
  const double n = values_[exponent].constant.as_double();
  if (n == 2) return op(Prim::square, base);
  if (n == 3) return op(Prim::mul, op(Prim::square, base), base);
  if (n == 0.5) return op(Prim::sqrt, base);
  if (n == -0.5) return op(Prim::rsqrt, base);
  if (n == -1) return op(Prim::reciprocal, base);
  if (n == -2) return op(Prim::reciprocal, op(Prim::square, base));
  return -1;
}

// `x <= 0 ? 0 : x` is a maximum, NaN included; a choice between truth values
// is logic.
int Dag::choice(int condition, int a, int b) {
  if (a == b) return a;
  const Value test = values_[condition];
  if (test.kind == Kind::kConstant) {
    return test.constant.as_double() != 0 ? a : b;
  }
  if (values_[a].reg_class == RegClass::kBool &&
      values_[b].reg_class == RegClass::kBool) {
    const int yes = op(Prim::logical_and, condition, a);
    const int no = op(Prim::logical_and, op(Prim::logical_not, condition), b);
    return op(Prim::logical_or, yes, no);
  }
  if (values_[a].kind == Kind::kConstant && test.kind == Kind::kOp &&
      test.args[0] == b && test.args[1] == a) {
    if (test.op == Prim::le || test.op == Prim::lt) {
      return op(Prim::maximum, b, a);
    }
    if (test.op == Prim::ge || test.op == Prim::gt) {
      return op(Prim::minimum, b, a);
    }
  }
  return -1;
}

int Dag::simplified(Prim prim, const std::array<int, 3>& args) {
  const auto [a, b, c] = args;
  switch (prim) {
    case Prim::pow: return power(a, b);
    case Prim::mul:
      if (a == b) return op(Prim::square, a);
      break;
    case Prim::div:
      if (is_constant(a, 1) && !values_[b].uniform) {
        const Value& x = values_[b];
        if (x.kind == Kind::kOp && x.op == Prim::sqrt) {
          return op(Prim::rsqrt, x.args[0]);
        }
        return op(Prim::reciprocal, b);
      }
      break;
    case Prim::fma:
      if (is_constant(a, 1)) return op(Prim::add, b, c);
      if (is_constant(b, 1)) return op(Prim::add, a, c);
      break;
    case Prim::logical_not: {
      const Value& x = values_[a];
      if (x.kind != Kind::kOp) break;
      if (x.op == Prim::logical_not) return x.args[0];
      if (x.op == Prim::eq) return op(Prim::ne, x.args[0], x.args[1]);
      if (x.op == Prim::ne) return op(Prim::eq, x.args[0], x.args[1]);
      break;
    }
    case Prim::logical_and:
    case Prim::logical_or:
      if (a == b) return a;
      for (int i = 0; i < 2; ++i) {
        const int known = args[i];
        if (values_[known].kind != Kind::kConstant) continue;
        const bool value = values_[known].constant.as_double() != 0;
        return value == (prim == Prim::logical_and) ? args[1 - i] : known;
      }
      break;
    default: break;
  }
  return -1;
}

int Dag::op(Prim prim, int a, int b, int c) {
  const PrimType type = kPrims[static_cast<int>(prim)].type;
  std::array<int, 3> args = {a, b, c};
  if (prim == Prim::select) {
    args[0] = as_bool(args[0]);
    const int v = choice(args[0], args[1], args[2]);
    if (v >= 0) return v;
  }
  bool uniform = true;
  bool constant_args = true;
  for (int i = 0; i < arity(type); ++i) {
    args[i] = takes_bool(type, i) ? as_bool(args[i]) : as_value(args[i]);
    uniform &= values_[args[i]].uniform;
    constant_args &= values_[args[i]].kind == Kind::kConstant;
  }
  const bool is_bool = result_class(type) == RegClass::kBool;
  if (constant_args) {
    Uniform u[3];
    for (int i = 0; i < arity(type); ++i) u[i] = values_[args[i]].constant;
    return constant(eval_uniform(prim, u[0], u[1], u[2]), is_bool);
  }
  if (const int v = simplified(prim, args); v >= 0) return v;
  return add({.kind = Kind::kOp,
              .op = prim,
              .args = args,
              .uniform = uniform,
              .reg_class = result_class(type)});
}

void Dag::fuse(std::vector<int>& roots) {
  std::vector<int> uses(values_.size(), 0);
  std::vector<bool> live(values_.size(), false);
  for (int r : roots) {
    ++uses[r];
    live[r] = true;
  }
  for (int v = static_cast<int>(values_.size()) - 1; v >= 0; --v) {
    if (!live[v]) continue;
    for (int a : values_[v].args) {
      if (a < 0) continue;
      ++uses[a];
      live[a] = true;
    }
  }
  const auto old_count = static_cast<int>(values_.size());
  // A product that only `v`'s sum reads.
  const auto factors = [&](int v, std::array<int, 2>& out) {
    const Value& x = values_[v];
    if (x.kind != Kind::kOp || x.uniform || uses[v] != 1) return false;
    if (x.op == Prim::mul) {
      out = {x.args[0], x.args[1]};
    } else if (x.op == Prim::square) {
      out = {x.args[0], x.args[0]};
    } else {
      return false;
    }
    return true;
  };
  std::vector<int> renamed(values_.size());
  for (int v = 0; v < old_count; ++v) {
    renamed[v] = v;
    Value x = values_[v];
    if (!live[v] || x.kind != Kind::kOp) continue;
    std::array<int, 2> f;
    if (!x.uniform && x.op == Prim::add) {
      int other = -1;
      if (factors(x.args[1], f)) {
        other = x.args[0];
      } else if (factors(x.args[0], f)) {
        other = x.args[1];
      }
      if (other >= 0) {
        renamed[v] =
            op(Prim::fma, renamed[f[0]], renamed[f[1]], renamed[other]);
        continue;
      }
    }
    // a - u * b, where -u is computed once.
    if (!x.uniform && x.op == Prim::sub && factors(x.args[1], f)) {
      const int which = values_[f[0]].uniform ? 0 : 1;
      if (values_[f[which]].uniform) {
        renamed[v] = op(Prim::fma, op(Prim::neg, renamed[f[which]]),
                        renamed[f[1 - which]], renamed[x.args[0]]);
        continue;
      }
    }
    for (int& a : x.args) {
      if (a >= 0) a = renamed[a];
    }
    renamed[v] = add(x);
  }
  for (int& r : roots) r = renamed[r];
}

}  // namespace sy::lang
