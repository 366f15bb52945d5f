#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "lang/diff.h"
#include "lang/element.h"
#include "lang/format.h"

namespace sy::lang {
namespace {

bool is_binary(const Expr& e, Op op) {
  return e->kind == ExprKind::kBinary && e->op == op;
}
bool is_negation(const Expr& e) {
  return e->kind == ExprKind::kUnary && e->op == Op::kNeg;
}

// 0.5 for 0.5000000000000001: what two rounded factors were meant to give.
double tidy(double v) {
  const std::string text = fmt::format("{:.15g}", v);
  return text.size() <= 6 ? std::strtod(text.c_str(), nullptr) : v;
}

Number product(const Number& a, const Number& b) {
  std::int64_t v;
  if (a.is_int && b.is_int && !__builtin_mul_overflow(a.i, b.i, &v)) {
    return Number::of(v);
  }
  return Number::of(tidy(a.as_double() * b.as_double()));
}

Number total(const Number& a, const Number& b) {
  std::int64_t v;
  if (a.is_int && b.is_int && !__builtin_add_overflow(a.i, b.i, &v)) {
    return Number::of(v);
  }
  return Number::of(a.as_double() + b.as_double());
}

Number negated(const Number& n) {
  return n.is_int ? Number::of(-n.i) : Number::of(-n.d);
}

struct Factor {
  Expr base;
  int power;
};

// over/under times powers of things that are no products themselves.
struct Term {
  Number over = Number::of(std::int64_t{1});
  Number under = Number::of(std::int64_t{1});
  std::vector<Factor> factors;

  void multiply(const Expr& base, int power) {
    for (auto it = factors.begin(); it != factors.end(); ++it) {
      if (!equal(it->base, base)) continue;
      it->power += power;
      if (it->power == 0) factors.erase(it);
      return;
    }
    factors.push_back({base, power});
  }

  // Multiplies by e ** power.
  void absorb(const Expr& e, int power) {
    if (is_number(e) && std::abs(power) <= 8) {
      Number& side = power > 0 ? over : under;
      for (int i = 0; i < std::abs(power); ++i) {
        side = product(side, e->number);
      }
    } else if (is_negation(e)) {
      if (power % 2 != 0) over = negated(over);
      absorb(e->children[0], power);
    } else if (is_binary(e, Op::kMul)) {
      absorb(e->children[0], power);
      absorb(e->children[1], power);
    } else if (is_binary(e, Op::kDiv)) {
      absorb(e->children[0], power);
      absorb(e->children[1], -power);
    } else if (is_call(e, "square", 1)) {
      absorb(e->children[0], 2 * power);
    } else if (is_call(e, "reciprocal", 1)) {
      absorb(e->children[0], -power);
    } else if (is_binary(e, Op::kPow) && is_number(e->children[1]) &&
               e->children[1]->number.is_int &&
               std::llabs(e->children[1]->number.i) <= 64) {
      absorb(e->children[0],
             power * static_cast<int>(e->children[1]->number.i));
    } else {
      multiply(e, power);
    }
  }

  int power_of(const Expr& base) const {
    for (const Factor& f : factors) {
      if (equal(f.base, base)) return f.power;
    }
    return 0;
  }

  bool same_factors(const Term& other) const {
    if (factors.size() != other.factors.size()) return false;
    for (const Factor& f : factors) {
      if (other.power_of(f.base) != f.power) return false;
    }
    return true;
  }
};

// The exponent u if e is 1 + exp(u).
Expr logistic_exponent(const Expr& e) {
  if (!is_binary(e, Op::kAdd)) return nullptr;
  for (int i = 0; i < 2; ++i) {
    if (is_number(e->children[i], 1) && is_call(e->children[1 - i], "exp", 1)) {
      return e->children[1 - i]->children[0];
    }
  }
  return nullptr;
}

// Whether u is written as the negative of something.
bool looks_negative(const Expr& u) {
  if (is_negation(u)) return true;
  if (is_number(u)) return u->number.as_double() < 0;
  return (is_binary(u, Op::kMul) || is_binary(u, Op::kDiv)) &&
         looks_negative(u->children[0]);
}

Expr without_sign(const Expr& u) {
  if (is_negation(u)) return u->children[0];
  if (is_number(u)) return make_number(negated(u->number));
  return with_children(*u, {without_sign(u->children[0]), u->children[1]});
}

// exp(u) / (1 + exp(u)) is sigmoid(u), and never inf / inf.
void find_sigmoids(Term& t) {
  for (bool again = true; again;) {
    again = false;
    for (const Factor& f : t.factors) {
      if (f.power > 0 && is_call(f.base, "sigmoid", 1)) {
        // exp(-x) * sigmoid(x) is sigmoid(-x), and never inf * 0.
        const Expr base = f.base;
        const Expr minus = make_unary(Op::kNeg, base->children[0]);
        const Expr e = make_call("exp", {minus});
        if (t.power_of(e) <= 0) continue;
        t.multiply(e, -1);
        t.multiply(base, -1);
        t.multiply(make_call("sigmoid", {minus}), 1);
        again = true;
        break;
      }
      if (f.power >= 0) continue;
      const Expr u = logistic_exponent(f.base);
      if (!u) continue;
      const Expr base = f.base;
      const Expr e = make_call("exp", {u});
      if (t.power_of(e) > 0) {
        t.multiply(e, -1);
        t.multiply(base, 1);
        t.multiply(make_call("sigmoid", {u}), 1);
      } else if (looks_negative(u)) {
        t.multiply(base, 1);
        t.multiply(make_call("sigmoid", {without_sign(u)}), 1);
      } else {
        continue;
      }
      again = true;
      break;
    }
  }
}

void reduce(Term& t) {
  find_sigmoids(t);
  if (t.over.is_int && t.under.is_int && t.under.i != 0) {
    const std::int64_t g = std::gcd(t.over.i, t.under.i);
    if (g > 1) {
      t.over.i /= g;
      t.under.i /= g;
    }
  } else if (!t.over.equals(1) && !t.over.equals(-1) && !t.under.equals(1)) {
    t.over = Number::of(t.over.as_double() / t.under.as_double());
    t.under = Number::of(std::int64_t{1});
  }
  if (t.under.as_double() < 0) {
    t.under = negated(t.under);
    t.over = negated(t.over);
  }
}

Expr power_text(const Expr& base, int power) {
  if (power == 1) return base;
  if (power == 2) {
    return base->kind == ExprKind::kName ? make_binary(Op::kMul, base, base)
                                         : make_call("square", {base});
  }
  return make_binary(Op::kPow, base, make_int(power));
}

Expr times(const Expr& a, const Expr& b) {
  return a ? make_binary(Op::kMul, a, b) : b;
}

// The term as a person would write it: number, factors, divisors.
Expr build(const Term& t) {
  Expr result;
  const bool minus = t.over.equals(-1);
  if (!minus && !t.over.equals(1)) result = make_number(t.over);
  bool negate = minus;
  for (const Factor& f : t.factors) {
    if (f.power <= 0) continue;
    const bool name_power = f.base->kind == ExprKind::kName && f.power == 2;
    for (int i = 0; i < (name_power ? 2 : 1); ++i) {
      Expr part = name_power ? f.base : power_text(f.base, f.power);
      if (negate) part = make_unary(Op::kNeg, part);
      negate = false;
      result = times(result, part);
    }
  }
  if (!result) result = make_int(negate ? -1 : 1);
  Expr divisor = t.under.equals(1) ? nullptr : make_number(t.under);
  for (const Factor& f : t.factors) {
    if (f.power >= 0) continue;
    const int n = f.power < -2 ? 1 : -f.power;
    for (int i = 0; i < n; ++i) {
      divisor =
          times(divisor, f.power < -2 ? power_text(f.base, -f.power) : f.base);
      result = make_binary(Op::kDiv, result, divisor);
      divisor = nullptr;
    }
  }
  return divisor ? make_binary(Op::kDiv, result, divisor) : result;
}

bool is_negative(const Number& n) { return n.as_double() < 0; }

class Simplifier {
 public:
  explicit Simplifier(std::string_view grad)
      : grad_(make_name(std::string(grad))) {}

  // `in_sum`: e is a term of a sum, which collects its terms.
  Expr run(const Expr& e, bool in_sum = false) {
    std::vector<Expr> c;
    bool changed = false;
    for (const Expr& child : e->children) {
      c.push_back(run(child, is_sum(e)));
      changed |= c.back() != child;
    }
    const Expr s = changed ? with_children(*e, std::move(c)) : e;
    // A long sum is collected once, by the whole.
    if (is_sum(s)) return in_sum && s->depth > kLong ? s : sum(s);
    if (is_binary(s, Op::kMul) || is_binary(s, Op::kDiv) ||
        is_binary(s, Op::kPow) || is_negation(s) || is_call(s, "square", 1) ||
        is_call(s, "reciprocal", 1)) {
      return product_of(s);
    }
    if (s->kind == ExprKind::kIf && equal(s->children[1], s->children[2])) {
      return s->children[1];
    }
    return s;
  }

 private:
  static constexpr std::uint32_t kLong = 64;

  static bool is_sum(const Expr& e) {
    return is_binary(e, Op::kAdd) || is_binary(e, Op::kSub);
  }

  static Expr product_of(const Expr& e) {
    Term t;
    t.absorb(e, 1);
    if (t.over.equals(0) && t.over.is_int) return make_int(0);
    reduce(t);
    return build(t);
  }

  static void collect(const Expr& e, bool minus, std::vector<Term>& terms) {
    if (is_binary(e, Op::kAdd) || is_binary(e, Op::kSub)) {
      collect(e->children[0], minus, terms);
      collect(e->children[1], minus != is_binary(e, Op::kSub), terms);
      return;
    }
    if (is_negation(e)) return collect(e->children[0], !minus, terms);
    Term t;
    t.absorb(e, 1);
    reduce(t);
    if (minus) t.over = negated(t.over);
    for (Term& other : terms) {
      if (other.same_factors(t) && other.under == t.under) {
        other.over = total(other.over, t.over);
        return;
      }
    }
    terms.push_back(std::move(t));
  }

  Expr sum(const Expr& e) {
    std::vector<Term> terms;
    collect(e, false, terms);
    std::erase_if(terms, [](const Term& t) { return t.over.equals(0); });
    if (terms.empty()) return make_int(0);
    Term common;
    if (terms.size() > 1) common = take_common(terms);
    Expr result;
    for (Term& t : terms) {
      reduce(t);
      const bool minus = result && is_negative(t.over);
      if (minus) t.over = negated(t.over);
      const Expr part = build(t);
      result = result ? make_binary(minus ? Op::kSub : Op::kAdd, result, part)
                      : part;
    }
    if (common.factors.empty()) return result;
    // The rest may be the sum of a logistic function.
    common.multiply(result, 1);
    reduce(common);
    return build(common);
  }

  // The factors that every term has, if the gradient is one of them: sums that
  // the author wrote are left as they are.
  Term take_common(std::vector<Term>& terms) const {
    Term common;
    for (const Term& t : terms) {
      if (t.power_of(grad_) < 1) return common;
    }
    for (const Factor& f : terms[0].factors) {
      int power = f.power;
      for (const Term& t : terms) {
        const int p = t.power_of(f.base);
        power = power > 0 ? std::min(power, p) : std::max(power, p);
        if ((p > 0) != (f.power > 0)) power = 0;
      }
      if (power != 0) common.factors.push_back({f.base, power});
    }
    for (Term& t : terms) {
      for (const Factor& f : common.factors) t.multiply(f.base, -f.power);
    }
    return common;
  }

  Expr grad_;
};

}  // namespace

Expr simplify(const Expr& e, std::string_view grad) {
  return Simplifier(grad).run(e);
}

}  // namespace sy::lang
