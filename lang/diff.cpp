#include "lang/diff.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lang/format.h"
#include "lang/name_parts.h"
#include "lang/parser.h"

namespace sy::lang {
namespace {

// The derivatives of i1 and bessel_j1 near 0 by their series: i0(x) - i1(x) / x
// says nothing at 0, and its own derivatives lose digits near it.
#define SY_SLOPE(sign)                                                    \
  "(0.5 " sign " x0 * x0 * (3 / 16 " sign " x0 * x0 * (5 / 384 " sign     \
  " x0 * x0 * (7 / 18432 " sign " x0 * x0 * (9 / 1474560 " sign           \
  " x0 * x0 * (11 / 176947200 " sign " x0 * x0 * (13 / 29727129600 " sign \
  " x0 * x0 * (15 / 6658877030400 " sign                                  \
  " x0 * x0 * (17 / 1917756584755200 " sign                               \
  " x0 * x0 * 19 / 690392370511872000)))))))))"
#define SY_I1_SLOPE SY_SLOPE("+")
#define SY_J1_SLOPE SY_SLOPE("-")

// The derivative of a primitive by each of its operands, times g; null: none is
// known. primitives.inc says what the formulas mention.
using Slopes = std::array<const char*, 3>;
constexpr Slopes kSlopes[] = {
#define SY_PRIM(name, type, domain, value, call, ...) {__VA_ARGS__},
#include "lang/primitives.inc"
};
#undef SY_SLOPE
#undef SY_I1_SLOPE
#undef SY_J1_SLOPE

// Null if no derivative is known.
const Slopes* find_slopes(std::string_view function) {
  const ElementFunction* f = find_element_function(function);
  if (!f || !f->prim) return nullptr;
  const Slopes& by = kSlopes[static_cast<int>(*f->prim)];
  return by == Slopes{} ? nullptr : &by;
}

bool is_predicate(std::string_view function) {
  const ElementFunction* f = find_element_function(function);
  if (!f || !f->prim) return false;
  const PrimType t = kPrims[static_cast<int>(*f->prim)].type;
  return t == PrimType::T_B || t == PrimType::TT_B || t == PrimType::B_B ||
         t == PrimType::BB_B || t == PrimType::B_T;
}

std::string_view function_of(const ExprNode& e) {
  if (e.kind == ExprKind::kCall) return e.name;
  switch (e.op) {
    case Op::kNeg: return "neg";
    case Op::kAdd: return "add";
    case Op::kSub: return "sub";
    case Op::kMul: return "mul";
    case Op::kDiv: return "div";
    case Op::kFloorDiv: return "floor_div";
    case Op::kMod: return "remainder";
    case Op::kPow: return "pow";
    default: return "eq";  // a predicate
  }
}

// All names of a formula at once, so that an operand called `y` is safe.
Expr instantiate(const Expr& formula, const std::map<std::string, Expr>& with) {
  if (formula->kind == ExprKind::kName) {
    const auto it = with.find(formula->name);
    return it == with.end() ? formula : it->second;
  }
  std::vector<Expr> children;
  for (const Expr& c : formula->children) {
    children.push_back(instantiate(c, with));
  }
  return with_children(*formula, std::move(children));
}

// Note [Sharing in derivatives]
// A gradient that reaches a part goes on to each of its operands, and rules
// write operands and values out: as text, that doubles at each step. So a
// derivative is made as text only while it is small. Else every operation of
// the expression gets a name (name_parts), each gradient that is used twice
// gets one, too, and the whole grows as the expression does.
class Differentiator {
 public:
  Differentiator(const DiffOptions& options, bool shares,
                 Diagnostics& diagnostics)
      : options_(options), shares_(shares), diagnostics_(diagnostics) {}

  Expr run(const Expr& e, std::string_view name) {
    root_ = e.get();
    Expr result = adjoint(e, name, make_name(options_.grad));
    if (result) check_size(result);
    return too_large_ ? nullptr : result;
  }
  bool is_too_large() const { return too_large_; }

 private:
  // The part of g's gradient that reaches `name` through `e`; null if none.
  Expr adjoint(const Expr& e, const std::string_view name, const Expr& g) {
    if (too_large_ || !mentions(e, name)) return nullptr;
    if (++calls_ > (shares_ ? kMostCalls : kMostInline)) {
      too_large_ = true;
      return nullptr;
    }
    switch (e->kind) {
      case ExprKind::kName:
      case ExprKind::kAttribute: return g;
      case ExprKind::kIf:
        return shared(g, [&](const Expr& bound) -> Expr {
          const Expr a = adjoint(e->children[1], name, bound);
          const Expr b = adjoint(e->children[2], name, bound);
          if (!a && !b) return nullptr;
          const Expr zero = make_int(0);
          return make_if(e->children[0], a ? a : zero, b ? b : zero);
        });
      case ExprKind::kLet: return lets(e, name, g);
      default: return function(e, name, g);
    }
  }

  // False, from then on, if it is larger than the mode allows.
  bool check_size(const Expr& e) {
    const std::size_t most = shares_ ? kMostNodes : kMostInline;
    too_large_ =
        too_large_ || e->depth > kMaxDepth || count_nodes(e, most) > most;
    return !too_large_;
  }

  // The expression that `make` builds from g, which it may use several times: a
  // g of any size is given a name first, so that it is not copied.
  template <class F>
  Expr shared(const Expr& g, F&& make) {
    if (g->depth <= kSmall) return make(g);
    if (!check_size(g)) return nullptr;
    const std::string name = fresh();
    const Expr body = make(make_name(name));
    return body ? make_let(name, g, body) : nullptr;
  }

  std::string fresh() { return fmt::format("{}_{}", options_.grad, ++names_); }

  // The gradients that reach the names that a chain of lets reads.
  struct Reaching {
    std::vector<std::string> names;  // those that matter
    std::map<std::string, Expr> sums;
    std::vector<std::pair<std::string, Expr>> gradients;  // in their order
  };

  // Goes from the last binding to the first: all that reaches a name is known
  // when its value's turn comes.
  Expr lets(const Expr& e, std::string_view name, const Expr& g) {
    Reaching r;
    r.names.emplace_back(name);
    std::vector<const ExprNode*> bindings;
    const Expr* body = &e;
    for (; (*body)->kind == ExprKind::kLet; body = &(*body)->children[1]) {
      bindings.push_back(body->get());
      r.names.push_back((*body)->name);
    }
    spread(*body, g, r);
    for (auto at = bindings.rbegin(); at != bindings.rend(); ++at) {
      const auto found = r.sums.find((*at)->name);
      if (found == r.sums.end() || !check_size(found->second)) continue;
      spread((*at)->children[0], simplify(found->second), r);
    }
    Expr all = too_large_ ? nullptr : r.sums[std::string(name)];
    if (!all) return nullptr;
    for (auto at = r.gradients.rbegin(); at != r.gradients.rend(); ++at) {
      if (mentions(all, at->first)) all = make_let(at->first, at->second, all);
    }
    for (auto at = bindings.rbegin(); at != bindings.rend(); ++at) {
      if (mentions(all, (*at)->name)) {
        all = make_let((*at)->name, (*at)->children[0], all);
      }
    }
    return all;
  }

  // Adds what reaches the names of `value`. A g that is used more than once
  // gets a name.
  void spread(const Expr& value, const Expr& g, Reaching& r) {
    const std::string name = fresh();
    const bool small = !shares_ || g->depth <= kSmall;
    const Expr by = small ? g : make_name(name);
    std::vector<std::pair<std::string, Expr>> parts;
    std::size_t uses = 0;
    for (const std::string& n : free_names(value)) {
      if (std::find(r.names.begin(), r.names.end(), n) == r.names.end()) {
        continue;
      }
      const Expr part = adjoint(value, n, by);
      if (!part) continue;
      if (!small) uses += occurrences(part, name);
      parts.emplace_back(n, part);
    }
    if (!small && uses > 1) r.gradients.emplace_back(name, g);
    for (auto& [n, part] : parts) {
      if (!small && uses == 1) part = substitute(part, name, g);
      Expr& all = r.sums[n];
      all = sum(all, part);
    }
  }

  static std::size_t occurrences(const Expr& e, std::string_view name) {
    if (is_name(e, name)) return 1;
    std::size_t n = 0;
    for (const Expr& c : e->children) n += occurrences(c, name);
    return n;
  }

  static Expr sum(const Expr& a, const Expr& b) {
    if (!a || !b) return a ? a : b;
    return make_binary(Op::kAdd, a, b);
  }

  Expr function(const Expr& e, std::string_view name, const Expr& g) {
    const std::string_view f = function_of(*e);
    if (is_predicate(f)) return nullptr;
    const Slopes* slopes = find_slopes(f);
    Expr total;
    for (std::size_t i = 0; i < e->children.size(); ++i) {
      if (!mentions(e->children[i], name)) continue;
      Expr inner;
      if (!check_size(g)) return nullptr;
      const auto special = special_case(*e, i, g);
      if (special) {
        inner = *special;
      } else if (!slopes || !(*slopes)[i]) {
        // Even a step function of it would stop the gradient.
        if (adjoint(e->children[i], name, g)) {
          diagnostics_.error(
              e->at, "'{}' has no derivative; write 'derivative:' as a formula",
              f);
        }
        continue;
      } else {
        inner = apply((*slopes)[i], e, g);
      }
      if (!inner) continue;
      total = sum(total, adjoint(e->children[i], name, inner));
    }
    return total;
  }

  // Powers with a literal exponent, the reciprocal, a result at hand.
  std::optional<Expr> special_case(const ExprNode& e, std::size_t i,
                                   const Expr& g) {
    if ((e.name == "maximum" || e.name == "minimum") &&
        is_scalar(e.children[1 - i])) {
      const bool greater = (e.name == "maximum") == (i == 0);
      return apply(
          greater ? "if x0 >= x1 then g else 0" : "if x0 <= x1 then g else 0",
          std::make_shared<const ExprNode>(e), g);
    }
    if (e.name == "expm1" && &e == root_ && !options_.result.empty()) {
      return apply("g * (y + 1)", nullptr, g, value_of(e));
    }
    if (e.kind != ExprKind::kBinary || i == 2) return std::nullopt;
    const Expr& a = e.children[0];
    const Expr& b = e.children[1];
    if (e.op == Op::kPow && i == 0 && is_number(b)) {
      if (is_number(b, 0)) return nullptr;
      const Number n = b->number.is_int ? Number::of(b->number.i - 1)
                                        : Number::of(b->number.d - 1);
      return make_binary(Op::kMul, make_binary(Op::kMul, b, g),
                         make_binary(Op::kPow, a, make_number(n)));
    }
    if (e.op == Op::kDiv && i == 1 && is_number(a, 1)) {
      return apply("-g * y * y", nullptr, g, value_of(e));
    }
    return std::nullopt;
  }

  bool is_scalar(const Expr& e) const {
    const auto names = free_names(e);
    return std::all_of(names.begin(), names.end(), [&](const std::string& n) {
      const ElementName* known = options_.env ? options_.env->find(n) : nullptr;
      return known && known->kind != ElementKind::kTensor;
    });
  }

  // The node itself, or the name that holds its value.
  Expr value_of(const ExprNode& e) const {
    if (&e == root_ && !options_.result.empty()) {
      return make_name(options_.result);
    }
    return make_node(e);
  }

  Expr apply(const char* formula, const Expr& e, const Expr& g,
             Expr value = nullptr) {
    if (std::string_view(formula) == "0") return nullptr;
    std::map<std::string, Expr> with;
    if (e) {
      for (std::size_t i = 0; i < e->children.size(); ++i) {
        with[fmt::format("x{}", i)] = e->children[i];
      }
      value = value_of(*e);
    }
    with["y"] = std::move(value);
    const Expr tree = parse(formula);
    const auto make = [&](const Expr& bound) {
      with["g"] = bound;
      return instantiate(tree, with);
    };
    const bool once = tree->kind != ExprKind::kIf;
    return once ? make(g) : shared(g, make);
  }

  static constexpr std::uint32_t kSmall = 6;
  static constexpr std::size_t kMostInline = 600, kMostNodes = 8000;
  static constexpr std::size_t kMostCalls = 3000;

  const DiffOptions& options_;
  const bool shares_;
  Diagnostics& diagnostics_;
  const ExprNode* root_ = nullptr;
  int names_ = 0;
  std::size_t calls_ = 0;
  bool too_large_ = false;
};

}  // namespace

namespace {

// Reads a value that a `let` has named by that name, wherever the rules put it.
Expr with_names(const Expr& e) {
  if (e->children.empty()) return e;
  std::vector<Expr> children;
  for (const Expr& c : e->children) children.push_back(with_names(c));
  if (e->kind == ExprKind::kLet && children[0]->depth > 1) {
    children[1] = replace(children[1], children[0], make_name(e->name));
  }
  return with_children(*e, std::move(children));
}

}  // namespace

Expr differentiate(const Expr& e, std::string_view name,
                   const DiffOptions& options, Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.size();
  const Expr plain = with_unique_bindings(fold(e));
  Differentiator small(options, false, diagnostics);
  Expr result = small.run(plain, name);
  if (small.is_too_large() && diagnostics.size() == before) {
    const Expr parts = name_parts(plain, name);
    Differentiator large(options, true, diagnostics);
    result = large.run(parts, name);
    if (large.is_too_large() && diagnostics.size() == before) {
      diagnostics.error(e->at,
                        "the derivative is too large for 'auto'; write it as "
                        "a formula, or the operator as a 'composite:'");
    }
  }
  if (diagnostics.size() != before) return nullptr;
  if (!result) return make_int(0);
  result = simplify(fold(result), options.grad);
  result = simplify(with_names(result), options.grad);
  if (!options.result.empty() && plain->depth > 1) {
    result = replace(result, plain, make_name(options.result));
  }
  return result;
}

bool is_differentiable(Prim prim) {
  const std::string_view name = kPrims[static_cast<int>(prim)].name;
  return prim == Prim::select || is_predicate(name) || find_slopes(name);
}

}  // namespace sy::lang
