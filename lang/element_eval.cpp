#include "lang/element_eval.h"

#include <stdexcept>
#include <utility>

#include "lang/element.h"

namespace sy::lang {
namespace {

using Values = std::map<std::string, Uniform>;

Uniform walk(const Expr& e, const Values& values) {
  const auto child = [&](std::size_t i) {
    return walk(e->children[i], values);
  };
  switch (e->kind) {
    case ExprKind::kNumber:
      return e->number.is_int ? Uniform::of(e->number.i)
                              : Uniform::of(e->number.d);
    case ExprKind::kBool: return Uniform::of(e->number.i);
    case ExprKind::kName:
    case ExprKind::kAttribute: return values.at(dotted_name(e));
    case ExprKind::kIf: return child(0).as_double() != 0 ? child(1) : child(2);
    case ExprKind::kLet: {
      Values inner = values;
      inner[e->name] = child(0);
      return walk(e->children[1], inner);
    }
    case ExprKind::kUnary:
      return eval_uniform(e->op == Op::kNot ? Prim::logical_not : Prim::neg,
                          child(0));
    case ExprKind::kBinary: {
      static constexpr Prim kOps[] = {
          Prim::add,       Prim::sub,         Prim::mul,       Prim::div,
          Prim::floor_div, Prim::remainder,   Prim::pow,       Prim::eq,
          Prim::ne,        Prim::lt,          Prim::le,        Prim::gt,
          Prim::ge,        Prim::logical_and, Prim::logical_or};
      return eval_uniform(
          kOps[static_cast<int>(e->op) - static_cast<int>(Op::kAdd)], child(0),
          child(1));
    }
    case ExprKind::kCall: {
      const ElementFunction* f = find_element_function(e->name);
      if (!f || !f->prim) throw std::logic_error("not expanded: " + e->name);
      Uniform u[3];
      for (std::size_t i = 0; i < e->children.size(); ++i) u[i] = child(i);
      return eval_uniform(*f->prim, u[0], u[1], u[2]);
    }
    default: throw std::logic_error("no element expression");
  }
}

}  // namespace

Uniform eval_tree(const Expr& e, Values values) {
  return walk(expand_element(e), values);
}

}  // namespace sy::lang
