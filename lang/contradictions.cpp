#include <algorithm>
#include <optional>
#include <vector>

#include "lang/entry.h"

// Conditions of `require:` that no call can meet, as far as two of them say so
// plainly.

namespace sy::lang {
namespace {

// One part of a conjunction: `left op literal`, or just true or false `left`.
struct Part {
  Expr whole, left;
  Op op = Op::kEq;
  Expr literal;  // a number, a text or a bool
};

bool is_literal(const Expr& e) {
  return e->kind == ExprKind::kNumber || e->kind == ExprKind::kString ||
         e->kind == ExprKind::kBool;
}

Op flipped(Op op) {
  switch (op) {
    case Op::kLt: return Op::kGt;
    case Op::kLe: return Op::kGe;
    case Op::kGt: return Op::kLt;
    case Op::kGe: return Op::kLe;
    default: return op;
  }
}

Part part_of(const Expr& e) {
  if (e->kind == ExprKind::kUnary && e->op == Op::kNot) {
    return {e, e->children[0], Op::kEq, make_bool(false)};
  }
  if (e->kind == ExprKind::kBinary && is_comparison(e->op)) {
    const Expr &a = e->children[0], &b = e->children[1];
    if (is_literal(b)) return {e, a, e->op, b};
    if (is_literal(a)) return {e, b, flipped(e->op), a};
  }
  return {e, e, Op::kEq, make_bool(true)};
}

void add_parts(const Expr& e, std::vector<Part>& out) {
  if (e->kind == ExprKind::kBinary && e->op == Op::kAnd) {
    add_parts(e->children[0], out);
    add_parts(e->children[1], out);
  } else {
    out.push_back(part_of(e));
  }
}

// Whether x == v, or a number near it, fits `x op c`. `side` moves v a little.
bool fits(double v, int side, Op op, double c) {
  const int order = v < c ? -1 : v > c ? 1 : side;
  switch (op) {
    case Op::kEq: return order == 0;
    case Op::kNe: return order != 0;
    case Op::kLt: return order < 0;
    case Op::kLe: return order <= 0;
    case Op::kGt: return order > 0;
    case Op::kGe: return order >= 0;
    default: return true;
  }
}

// No number is one and the other: those at and beside the two literals stand
// for all.
bool exclude(const Part& a, const Part& b) {
  if (!equal(a.left, b.left)) return false;
  if (is_number(a.literal) && is_number(b.literal)) {
    const double x = a.literal->number.as_double();
    const double y = b.literal->number.as_double();
    for (const double v : {x, y}) {
      for (const int side : {-1, 0, 1}) {
        if (fits(v, side, a.op, x) && fits(v, side, b.op, y)) return false;
      }
    }
    return true;
  }
  if (a.literal->kind != b.literal->kind) return false;
  const bool same = equal(a.literal, b.literal);
  if (a.op == Op::kEq && b.op == Op::kEq) return !same;
  const bool opposite = (a.op == Op::kEq && b.op == Op::kNe) ||
                        (a.op == Op::kNe && b.op == Op::kEq);
  return opposite && same;
}

}  // namespace

void check_contradictions(const OperatorEntry& e, Diagnostics& diagnostics) {
  std::vector<Part> parts;
  for (const Requirement& r : e.require) {
    std::vector<Part> own;
    add_parts(r.condition.expr, own);
    for (Part& p : own) {
      if (free_names(p.whole).empty()) {
        diagnostics.error(p.whole->at, "'{}' asks nothing of the arguments",
                          to_string(p.whole));
        continue;
      }
      const auto other =
          std::find_if(parts.begin(), parts.end(),
                       [&](const Part& known) { return exclude(known, p); });
      if (other != parts.end()) {
        diagnostics.error(p.whole->at, "'{}' contradicts '{}' at {}",
                          to_string(p.whole), to_string(other->whole),
                          to_string(other->whole->at));
      }
      parts.push_back(std::move(p));
    }
  }
}

}  // namespace sy::lang
