#include "frontend/export/native_function.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "c10/process/error.h"

namespace sy::exporting {

namespace {

bool is_real(const Value& v) { return v.is_double(); }

[[noreturn]] void overflow(const char* op) {
  fail(ErrorKind::Value, "[{}] expected a result of 64 bits", op);
}

void check_divisor(const char* op, bool is_zero) {
  SY_CHECK(!is_zero, Value, "[{}] b: expected another number than 0", op);
}

using Overflowing = bool (*)(int64_t, int64_t, int64_t*);

Value arithmetic(const char* op, const Value* a, Overflowing of_ints,
                 double (*of_reals)(double, double)) {
  if (is_real(a[0]) || is_real(a[1])) {
    return of_reals(a[0].to_double(), a[1].to_double());
  }
  int64_t out = 0;
  if (of_ints(a[0].to_int(), a[1].to_int(), &out)) overflow(op);
  return out;
}

Value add(const Value* a, size_t) {
  return arithmetic(
      "add", a,
      [](int64_t x, int64_t y, int64_t* out) {
        return __builtin_add_overflow(x, y, out);
      },
      [](double x, double y) { return x + y; });
}
Value sub(const Value* a, size_t) {
  return arithmetic(
      "sub", a,
      [](int64_t x, int64_t y, int64_t* out) {
        return __builtin_sub_overflow(x, y, out);
      },
      [](double x, double y) { return x - y; });
}
Value mul(const Value* a, size_t) {
  return arithmetic(
      "mul", a,
      [](int64_t x, int64_t y, int64_t* out) {
        return __builtin_mul_overflow(x, y, out);
      },
      [](double x, double y) { return x * y; });
}

// Rounded to below, as Python's // and %.
bool floor_div_ints(int64_t x, int64_t y, int64_t* out) {
  check_divisor("floordiv", y == 0);
  if (y == -1) return __builtin_sub_overflow(int64_t{0}, x, out);
  *out = x / y - ((x % y != 0 && (x < 0) != (y < 0)) ? 1 : 0);
  return false;
}
Value floordiv(const Value* a, size_t) {
  return arithmetic("floordiv", a, floor_div_ints, [](double x, double y) {
    check_divisor("floordiv", y == 0);
    return std::floor(x / y);
  });
}
Value mod(const Value* a, size_t) {
  return arithmetic(
      "mod", a,
      [](int64_t x, int64_t y, int64_t* out) {
        check_divisor("mod", y == 0);
        *out = y == -1 ? 0 : x % y;
        if (*out != 0 && (*out < 0) != (y < 0)) *out += y;
        return false;
      },
      [](double x, double y) {
        check_divisor("mod", y == 0);
        double r = std::fmod(x, y);
        if (r != 0 && (r < 0) != (y < 0)) r += y;
        return r;
      });
}
Value truediv(const Value* a, size_t) {
  check_divisor("truediv", a[1].to_double() == 0);
  return a[0].to_double() / a[1].to_double();
}

bool power_of_ints(int64_t base, int64_t exponent, int64_t* out) {
  *out = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(*out, base, out)) {
      return true;
    }
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) return true;
  }
  return false;
}
Value pow(const Value* a, size_t) {
  if (!is_real(a[0]) && !is_real(a[1]) && a[1].to_int() >= 0) {
    return arithmetic("pow", a, power_of_ints, nullptr);
  }
  return std::pow(a[0].to_double(), a[1].to_double());
}

Value neg(const Value* a, size_t) {
  if (is_real(a[0])) return -a[0].to_double();
  const Value zero_and_a[] = {Value(int64_t{0}), a[0]};
  return sub(zero_and_a, 2);
}
Value pos(const Value* a, size_t) { return a[0]; }

// Compares numbers without rounding integers.
int compare(const Value* a) {
  if (is_real(a[0]) || is_real(a[1])) {
    const double x = a[0].to_double(), y = a[1].to_double();
    return x < y ? -1 : (x > y ? 1 : (x == y ? 0 : 2));
  }
  const int64_t x = a[0].to_int(), y = a[1].to_int();
  return x < y ? -1 : (x > y ? 1 : 0);
}
Value eq(const Value* a, size_t) { return compare(a) == 0; }
Value ne(const Value* a, size_t) { return compare(a) != 0; }
Value lt(const Value* a, size_t) { return compare(a) == -1; }
Value le(const Value* a, size_t) {
  const int c = compare(a);
  return c == -1 || c == 0;
}
Value gt(const Value* a, size_t) { return compare(a) == 1; }
Value ge(const Value* a, size_t) {
  const int c = compare(a);
  return c == 1 || c == 0;
}

bool truth(const Value& v) {
  return is_real(v) ? v.to_double() != 0 : v.to_int() != 0;
}
Value logical_not(const Value* a, size_t) { return !truth(a[0]); }
Value bit_and(const Value* a, size_t) {
  if (a[0].is_bool() && a[1].is_bool()) return truth(a[0]) && truth(a[1]);
  return a[0].to_int() & a[1].to_int();
}
Value bit_or(const Value* a, size_t) {
  if (a[0].is_bool() && a[1].is_bool()) return truth(a[0]) || truth(a[1]);
  return a[0].to_int() | a[1].to_int();
}
Value bit_xor(const Value* a, size_t) {
  if (a[0].is_bool() && a[1].is_bool()) return truth(a[0]) != truth(a[1]);
  return a[0].to_int() ^ a[1].to_int();
}

int64_t shift_of(const char* op, const Value& v) {
  const int64_t by = v.to_int();
  SY_CHECK(by >= 0, Value, "[{}] b: expected at least 0, got {}", op, by);
  return by;
}
Value left_shift(const Value* a, size_t) {
  const int64_t x = a[0].to_int(), by = shift_of("lshift", a[1]);
  int64_t out = 0;
  const bool wide =
      by > 62 || __builtin_mul_overflow(x, int64_t{1} << by, &out);
  if (wide && x != 0) overflow("lshift");
  return out;
}
Value right_shift(const Value* a, size_t) {
  return a[0].to_int() >> std::min<int64_t>(shift_of("rshift", a[1]), 63);
}
Value ite(const Value* a, size_t) { return truth(a[0]) ? a[1] : a[2]; }

Value max_of(const Value* a, size_t n) {
  Value out = a[0];
  bool real = is_real(a[0]);
  for (size_t i = 1; i < n; ++i) {
    const Value pair[] = {a[i], out};
    real = real || is_real(a[i]);
    if (compare(pair) == 1) out = a[i];
  }
  return real ? Value(out.to_double()) : out;
}
Value min_of(const Value* a, size_t n) {
  Value out = a[0];
  bool real = is_real(a[0]);
  for (size_t i = 1; i < n; ++i) {
    const Value pair[] = {a[i], out};
    real = real || is_real(a[i]);
    if (compare(pair) == -1) out = a[i];
  }
  return real ? Value(out.to_double()) : out;
}
Value sum(const Value* a, size_t n) {
  Value out(int64_t{0});
  for (size_t i = 0; i < n; ++i) {
    const Value pair[] = {out, a[i]};
    out = add(pair, 2);
  }
  return out;
}

Value integer_of(const char* op, double x) {
  constexpr double limit = 9223372036854775808.0;
  if (!(x >= -limit && x < limit)) overflow(op);
  return static_cast<int64_t>(x);
}
Value to_int(const Value* a, size_t) {
  return is_real(a[0]) ? integer_of("sym_int", std::trunc(a[0].to_double()))
                       : Value(a[0].to_int());
}
Value to_float(const Value* a, size_t) { return a[0].to_double(); }
Value floor(const Value* a, size_t) {
  return is_real(a[0]) ? integer_of("floor", std::floor(a[0].to_double()))
                       : a[0];
}
Value ceil(const Value* a, size_t) {
  return is_real(a[0]) ? integer_of("ceil", std::ceil(a[0].to_double())) : a[0];
}
Value round(const Value* a, size_t) {
  return is_real(a[0]) ? integer_of("round", std::nearbyint(a[0].to_double()))
                       : a[0];
}

template <double (*f)(double)>
Value real(const Value* a, size_t) {
  return f(a[0].to_double());
}

struct Named {
  std::string_view name;
  NumberInfo info;
};

constexpr size_t kMany = std::numeric_limits<size_t>::max();

constexpr Named kFunctions[] = {
    {"_operator.add", {add, 2, 2}},
    {"_operator.sub", {sub, 2, 2}},
    {"_operator.mul", {mul, 2, 2}},
    {"_operator.floordiv", {floordiv, 2, 2}},
    {"_operator.truediv", {truediv, 2, 2}},
    {"_operator.mod", {mod, 2, 2}},
    {"_operator.pow", {pow, 2, 2}},
    {"_operator.neg", {neg, 1, 1}},
    {"_operator.pos", {pos, 1, 1}},
    {"_operator.eq", {eq, 2, 2}},
    {"_operator.ne", {ne, 2, 2}},
    {"_operator.lt", {lt, 2, 2}},
    {"_operator.le", {le, 2, 2}},
    {"_operator.gt", {gt, 2, 2}},
    {"_operator.ge", {ge, 2, 2}},
    {"_operator.and_", {bit_and, 2, 2}},
    {"_operator.or_", {bit_or, 2, 2}},
    {"_operator.xor", {bit_xor, 2, 2}},
    {"_operator.lshift", {left_shift, 2, 2}},
    {"_operator.rshift", {right_shift, 2, 2}},
    {"_operator.not_", {logical_not, 1, 1}},
    {"math.trunc", {to_int, 1, 1}},
    {"math.floor", {floor, 1, 1}},
    {"math.ceil", {ceil, 1, 1}},
    {"math.sqrt", {real<std::sqrt>, 1, 1}},
    {"builtins.round", {round, 1, 1}},
    {"torch.sym_not", {logical_not, 1, 1}},
    {"torch.sym_int", {to_int, 1, 1}},
    {"torch.sym_float", {to_float, 1, 1}},
    {"torch.sym_ite", {ite, 3, 3}},
    {"torch.sym_max", {max_of, 1, kMany}},
    {"torch.sym_min", {min_of, 1, kMany}},
    {"torch.sym_sum", {sum, 0, kMany}},
    {"torch.sym_sqrt", {real<std::sqrt>, 1, 1}},
    {"torch._sym_sqrt", {real<std::sqrt>, 1, 1}},
    {"torch._sym_sin", {real<std::sin>, 1, 1}},
    {"torch._sym_cos", {real<std::cos>, 1, 1}},
    {"torch._sym_tan", {real<std::tan>, 1, 1}},
    {"torch._sym_asin", {real<std::asin>, 1, 1}},
    {"torch._sym_acos", {real<std::acos>, 1, 1}},
    {"torch._sym_atan", {real<std::atan>, 1, 1}},
    {"torch._sym_sinh", {real<std::sinh>, 1, 1}},
    {"torch._sym_cosh", {real<std::cosh>, 1, 1}},
    {"torch._sym_tanh", {real<std::tanh>, 1, 1}},
    {"torch._sym_log2", {real<std::log2>, 1, 1}},
};

}  // namespace

std::optional<NumberInfo> number_function(std::string_view target) {
  // "torch.sym_max" is also written with the modules between.
  const size_t dot = target.rfind('.');
  if (target.starts_with("torch.") && dot != std::string_view::npos &&
      target.substr(dot + 1).starts_with("sym_")) {
    for (const Named& f : kFunctions) {
      if (f.name.substr(6) == target.substr(dot + 1)) return f.info;
    }
  }
  for (const Named& f : kFunctions) {
    if (f.name == target) return f.info;
  }
  return {};
}

}  // namespace sy::exporting
