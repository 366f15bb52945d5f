#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lang/element.h"
#include "lang/program.h"

namespace sy::lang {
namespace {

std::optional<Prim> prim_of(Op op) {
  switch (op) {
    case Op::kNeg: return Prim::neg;
    case Op::kAdd: return Prim::add;
    case Op::kSub: return Prim::sub;
    case Op::kMul: return Prim::mul;
    case Op::kDiv: return Prim::div;
    case Op::kFloorDiv: return Prim::floor_div;
    case Op::kMod: return Prim::remainder;
    case Op::kPow: return Prim::pow;
    case Op::kEq: return Prim::eq;
    case Op::kNe: return Prim::ne;
    case Op::kLt: return Prim::lt;
    case Op::kLe: return Prim::le;
    case Op::kGt: return Prim::gt;
    case Op::kGe: return Prim::ge;
    default: return std::nullopt;
  }
}

bool is_literal(const Expr& e) {
  return e->kind == ExprKind::kNumber || e->kind == ExprKind::kBool;
}

Uniform uniform_of(const Expr& e) {
  return e->number.is_int ? Uniform::of(e->number.i) : Uniform::of(e->number.d);
}

Expr literal_of(Uniform u, bool is_bool, const Location& at) {
  if (is_bool) return make_bool(u.i != 0, at);
  return u.is_int ? make_int(u.i, at) : make_double(u.d, at);
}

class Folder {
 public:
  Expr run(const Expr& e) {
    if (e->kind == ExprKind::kLet) return let(e);
    std::vector<Expr> c;
    c.reserve(e->children.size());
    bool changed = false;
    for (const Expr& child : e->children) {
      c.push_back(run(child));
      changed |= c.back() != child;
    }
    const Expr f = changed ? with_children(*e, std::move(c)) : e;
    switch (f->kind) {
      case ExprKind::kUnary: return unary(f);
      case ExprKind::kBinary: return binary(f);
      case ExprKind::kCall: return call(f);
      case ExprKind::kIf: return branch(f);
      default: return f;
    }
  }

 private:
  // Whether the value may be a truth value, which `x + 0` would make a number.
  bool may_be_bool(const Expr& e) const {
    switch (e->kind) {
      case ExprKind::kBool: return true;
      case ExprKind::kName: {
        for (const auto& [name, is_bool] : locals_) {
          if (name == e->name) return is_bool;
        }
        return false;
      }
      case ExprKind::kUnary: return e->op == Op::kNot;
      case ExprKind::kBinary:
        return is_comparison(e->op) || e->op == Op::kAnd || e->op == Op::kOr;
      case ExprKind::kIf:
        return may_be_bool(e->children[1]) && may_be_bool(e->children[2]);
      case ExprKind::kLet: return true;
      case ExprKind::kCall: {
        const ElementFunction* f = find_element_function(e->name);
        if (!f || !f->prim) return true;
        const PrimType t = kPrims[static_cast<int>(*f->prim)].type;
        return t != PrimType::T_T && t != PrimType::TT_T &&
               t != PrimType::TTT_T && t != PrimType::B_T;
      }
      default: return false;
    }
  }

  Expr let(const Expr& e) {
    const Expr value = run(e->children[0]);
    if (is_literal(value) || value->kind == ExprKind::kName) {
      return run(substitute(e->children[1], e->name, value));
    }
    locals_.emplace_back(e->name, may_be_bool(value));
    const Expr body = run(e->children[1]);
    locals_.pop_back();
    if (!mentions(body, e->name)) return body;
    return with_children(*e, {value, body});
  }

  static Expr unary(const Expr& e) {
    const Expr& x = e->children[0];
    if (e->op == Op::kNot) {
      if (is_literal(x)) {
        return make_bool(uniform_of(x).as_double() == 0, e->at);
      }
      return e;
    }
    if (is_literal(x)) {
      return literal_of(eval_uniform(Prim::neg, uniform_of(x)), false, e->at);
    }
    if (x->kind == ExprKind::kUnary && x->op == Op::kNeg) {
      return x->children[0];
    }
    return e;
  }

  Expr binary(const Expr& e) {
    const Expr& a = e->children[0];
    const Expr& b = e->children[1];
    if (const Expr answer = question(e)) return answer;
    if (e->op == Op::kAnd || e->op == Op::kOr) return logic(e);
    const auto prim = prim_of(e->op);
    if (is_literal(a) && is_literal(b) &&
        !(is_number(b, 0) && b->number.is_int &&
          (e->op == Op::kFloorDiv || e->op == Op::kMod))) {
      return literal_of(eval_uniform(*prim, uniform_of(a), uniform_of(b)),
                        is_comparison(e->op), e->at);
    }
    const auto neutral = [&](const Expr& kept) {
      return may_be_bool(kept) ? e : kept;
    };
    switch (e->op) {
      case Op::kAdd:
        if (is_number(b, 0)) return neutral(a);
        if (is_number(a, 0)) return neutral(b);
        break;
      case Op::kSub:
        if (is_number(b, 0)) return neutral(a);
        if (is_number(a, 0)) return run(make_unary(Op::kNeg, b, e->at));
        break;
      case Op::kMul:
        if (is_number(b, 1)) return neutral(a);
        if (is_number(a, 1)) return neutral(b);
        if (is_number(b, -1)) return run(make_unary(Op::kNeg, a, e->at));
        if (is_number(a, -1)) return run(make_unary(Op::kNeg, b, e->at));
        break;
      case Op::kDiv:
      case Op::kPow:
        if (is_number(b, 1)) return neutral(a);
        break;
      default: break;
    }
    return e;
  }

  // Comparisons with None and of strings, once both sides are literals.
  static Expr question(const Expr& e) {
    if (e->op != Op::kEq && e->op != Op::kNe) return nullptr;
    const Expr& a = e->children[0];
    const Expr& b = e->children[1];
    const auto known = [](const Expr& x) {
      return is_literal(x) || x->kind == ExprKind::kNone ||
             x->kind == ExprKind::kString;
    };
    const auto special = [](const Expr& x) {
      return x->kind == ExprKind::kNone || x->kind == ExprKind::kString;
    };
    if (!known(a) || !known(b) || (!special(a) && !special(b))) {
      return nullptr;
    }
    const bool same = a->kind == b->kind && a->name == b->name;
    return make_bool(same == (e->op == Op::kEq), e->at);
  }

  Expr logic(const Expr& e) {
    const bool is_and = e->op == Op::kAnd;
    for (int i = 0; i < 2; ++i) {
      if (!is_literal(e->children[i])) continue;
      const bool value = uniform_of(e->children[i]).as_double() != 0;
      const Expr& other = e->children[1 - i];
      if (value != is_and) return make_bool(value, e->at);
      if (may_be_bool(other) && other->kind != ExprKind::kLet) return other;
    }
    return e;
  }

  Expr branch(const Expr& e) {
    const Expr& c = e->children[0];
    if (is_literal(c)) {
      return e->children[uniform_of(c).as_double() != 0 ? 1 : 2];
    }
    if (equal(e->children[1], e->children[2])) return e->children[1];
    return e;
  }

  Expr call(const Expr& e) {
    const ElementFunction* f = find_element_function(e->name);
    if (!f || !f->prim) return e;
    for (const Expr& c : e->children) {
      if (!is_literal(c)) return e;
    }
    Uniform u[3];
    for (std::size_t i = 0; i < e->children.size(); ++i) {
      u[i] = uniform_of(e->children[i]);
    }
    const PrimType t = kPrims[static_cast<int>(*f->prim)].type;
    const bool is_bool = t == PrimType::T_B || t == PrimType::TT_B ||
                         t == PrimType::B_B || t == PrimType::BB_B;
    return literal_of(eval_uniform(*f->prim, u[0], u[1], u[2]), is_bool, e->at);
  }

  std::vector<std::pair<std::string, bool>> locals_;
};

}  // namespace

Expr fold(const Expr& e) { return Folder().run(expand_element(e)); }

Expr specialise(const Expr& e, const Bindings& bindings) {
  Expr result = e;
  for (const auto& [name, value] : bindings) {
    result = substitute(result, name, value);
  }
  return fold(result);
}

}  // namespace sy::lang
