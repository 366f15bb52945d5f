#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lang/element.h"
#include "lang/format.h"
#include "lang/parser.h"
#include "lang/primitive_operators.h"
#include "lang/tensor.h"

namespace sy::lang {
namespace {

// Primitives that ATen knows under another name, or not at all; others are
// called by the operator that computes them (primitive_operators.h).
struct Spelling {
  std::string_view function;
  const char* formula;
};
constexpr Spelling kSpellings[] = {
    {"copy", "x0"},
    {"fma", "x0 * x1 + x2"},
    {"trunc_div", "div(x0, x1, rounding_mode='trunc')"},
    {"truth", "x0 != 0"},
    {"from_bool", "x0"},
    {"i1", "special_i1(x0)"},
    {"bessel_k0", "special_modified_bessel_k0(x0)"},
    {"bessel_k1", "special_modified_bessel_k1(x0)"},
};

Expr spelt(const ExprNode& e, const std::vector<Expr>& args) {
  for (const Spelling& s : kSpellings) {
    if (e.name != s.function) continue;
    Expr f = parse(s.formula);
    // Operands that are themselves called x0 are put in last.
    for (std::size_t i = 0; i < args.size(); ++i) {
      f = substitute(f, fmt::format("x{}", i),
                     make_name(fmt::format("operand {}", i)));
    }
    for (std::size_t i = 0; i < args.size(); ++i) {
      f = substitute(f, fmt::format("operand {}", i), args[i]);
    }
    return f;
  }
  const ElementFunction* f = find_element_function(e.name);
  if (!f || !f->prim) return nullptr;
  const std::string_view call = operator_of(*f->prim);
  const std::string_view name = call.substr(0, call.find('.'));
  if (name.empty() || name == e.name) return nullptr;
  return make_call(std::string(name), args, e.at);
}

// Smooth and bounded by a multiple of their operands, with all derivatives:
// nothing comes out of them that did not go in.
constexpr std::string_view kTame[] = {
    "copy",     "abs",       "sign",      "square",    "sin",   "cos",
    "atan",     "tanh",      "asinh",     "sigmoid",   "erf",   "erfc",
    "floor",    "ceil",      "round",     "trunc",     "frac",  "maximum",
    "minimum",  "fmax",      "fmin",      "fma",       "clamp", "lerp",
    "copysign", "bessel_j0", "bessel_j1", "from_bool", "truth"};

bool gives_truth(Prim prim) {
  const PrimType t = kPrims[static_cast<int>(prim)].type;
  return t == PrimType::T_B || t == PrimType::TT_B || t == PrimType::B_B ||
         t == PrimType::BB_B;
}

bool is_power_of_whole(const ExprNode& e) {
  const Expr& n = e.children[1];
  return is_number(n) && n->number.as_double() >= 0 &&
         n->number.as_double() == std::floor(n->number.as_double());
}

// The operands of a function that it must not see where its value is not used:
// from this one on; none if it is their number.
std::size_t first_risky(const ExprNode& e) {
  const std::size_t none = e.children.size();
  switch (e.kind) {
    case ExprKind::kCall: {
      const ElementFunction* f = find_element_function(e.name);
      const bool tame = !f || !f->prim || gives_truth(*f->prim) ||
                        std::ranges::find(kTame, e.name) != std::end(kTame);
      return tame ? none : 0;
    }
    case ExprKind::kBinary:
      if (e.op == Op::kPow) return is_power_of_whole(e) ? none : 0;
      return e.op == Op::kDiv || e.op == Op::kFloorDiv || e.op == Op::kMod
                 ? 1
                 : none;
    default: return none;
  }
}

// In `if x == 0 then 1 else sin(x) / x` the slope of the branch not taken is
// NaN at 0, and 0 times NaN is NaN: a gradient of 0 that flows into it, as that
// of where() does, would spoil the other's. So functions that have singular
// points or overflow read a harmless number there: `sin(x) / (if x == 0 then 1
// else x)`. Values stay as they are.
class Guard {
 public:
  explicit Guard(const ElementEnv& env) : env_(env) {}

  Expr run(const Expr& e) {
    if (e->kind == ExprKind::kLet) {
      const Expr value = run(e->children[0]);
      const std::size_t depth = bind(*e);
      const Expr body = run(e->children[1]);
      env_.names.resize(depth);
      return with_children(*e, {value, body});
    }
    if (e->children.empty()) return e;
    std::vector<Expr> children;
    for (const Expr& c : e->children) children.push_back(run(c));
    if (e->kind == ExprKind::kIf && !is_uniform(e->children[0])) {
      for (const int i : {1, 2}) {
        children[i] = branch(children[i], e->children[0], i == 1);
      }
    }
    return with_children(*e, std::move(children));
  }

 private:
  bool is_uniform(const Expr& e) const {
    Diagnostics ignored;
    const auto type = check_element(e, env_, ignored);
    return type && type->uniform;
  }

  std::size_t bind(const ExprNode& let) {
    const std::size_t depth = env_.names.size();
    env_.names.push_back({let.name, is_uniform(let.children[0])
                                        ? ElementKind::kNumber
                                        : ElementKind::kTensor});
    return depth;
  }

  // `e`, which counts where `condition` is `holds`.
  Expr branch(const Expr& e, const Expr& condition, bool holds) {
    if (e->kind == ExprKind::kLet) {
      const Expr value = branch(e->children[0], condition, holds);
      const std::size_t depth = bind(*e);
      const Expr body = branch(e->children[1], condition, holds);
      env_.names.resize(depth);
      return with_children(*e, {value, body});
    }
    if (e->children.empty()) return e;
    const std::size_t risky = first_risky(*e);
    const std::optional<double> harmless =
        risky < e->children.size() ? harmless_for(e) : std::nullopt;
    std::vector<Expr> children;
    for (std::size_t i = 0; i < e->children.size(); ++i) {
      // Conditions have no slope.
      const bool choice = e->kind == ExprKind::kIf && i == 0;
      children.push_back(
          choice ? e->children[i]
          : harmless && i >= risky
              ? guarded(e->children[i], condition, holds, *harmless)
              : branch(e->children[i], condition, holds));
    }
    return with_children(*e, std::move(children));
  }

  // `e` with each name of a tensor a number where the branch does not count.
  Expr guarded(const Expr& e, const Expr& condition, bool holds,
               double number) const {
    if (e->kind == ExprKind::kName) {
      if (!is_tensor(e->name)) return e;
      const Expr other = make_double(number);
      return holds ? make_if(condition, e, other)
                   : make_if(condition, other, e);
    }
    if (e->children.empty()) return e;
    std::vector<Expr> children;
    for (std::size_t i = 0; i < e->children.size(); ++i) {
      const bool choice = e->kind == ExprKind::kIf && i == 0;
      children.push_back(
          choice ? e->children[i]
                 : guarded(e->children[i], condition, holds, number));
    }
    return with_children(*e, std::move(children));
  }

  bool is_tensor(std::string_view name) const {
    const ElementName* n = env_.find(name);
    return n && n->kind == ElementKind::kTensor && name != "grad";
  }

  // A number at which a function and its slope are finite, if its operands
  // depend on tensors at all.
  std::optional<double> harmless_for(const Expr& e) const {
    const auto names = free_names(e);
    if (std::ranges::none_of(names,
                             [&](const auto& n) { return is_tensor(n); })) {
      return std::nullopt;
    }
    for (const double candidate : {1.0, 0.5, 2.0, -0.5, 0.25, 8.0}) {
      if (is_harmless(e, names, candidate)) return candidate;
    }
    return 1.0;
  }

  bool is_harmless(const Expr& e, const std::vector<std::string>& names,
                   double at) const {
    constexpr double kStep = 1e-4, kSteep = 1e4, kTypical = 0.7;
    double before = 0;
    for (const double move : {-kStep, 0.0, kStep}) {
      Bindings values;
      for (const std::string& n : names) {
        values[n] = make_double(is_tensor(n) ? at + move : kTypical);
      }
      const Expr r = specialise(e, values);
      if (!is_number(r) || !std::isfinite(r->number.as_double())) return false;
      const double value = r->number.as_double();
      if (move > -kStep && std::abs(value - before) > kSteep * kStep) {
        return false;
      }
      before = value;
    }
    return true;
  }

  ElementEnv env_;
};

class Translator {
 public:
  explicit Translator(const ElementEnv& env) : env_(env) {}

  Expr run(const Expr& e) {
    if (e->kind == ExprKind::kLet) return let(*e);
    std::vector<Expr> children;
    for (const Expr& c : e->children) children.push_back(run(c));
    if (e->kind == ExprKind::kIf) {
      if (!is_uniform(e->children[0])) {
        return make_call("where", std::move(children), e->at);
      }
      // One of two operators runs; both must give a tensor.
      for (int i = 1; i < 3; ++i) {
        if (is_uniform(e->children[i]) && !is_uniform(e->children[3 - i])) {
          children[i] = filled(children[i], children[3 - i]);
        }
      }
    }
    if (e->kind == ExprKind::kCall) {
      if (Expr f = spelt(*e, children)) return f;
    }
    return children.empty() ? e : with_children(*e, std::move(children));
  }

 private:
  bool is_uniform(const Expr& e) const {
    Diagnostics ignored;
    const auto type = check_element(e, env_, ignored);
    return type && type->uniform;
  }

  // A number with the sizes of a tensor that `other` mentions; the gradient's
  // are those of the result.
  Expr filled(const Expr& number, const Expr& other) const {
    std::string name;
    for (const ElementName& n : env_.names) {
      if (n.kind != ElementKind::kTensor || !mentions(other, n.name)) continue;
      if (name.empty() || n.name == "grad") name = n.name;
    }
    if (is_number(number, 0)) return make_call("zeros_like", {make_name(name)});
    return make_call("full_like", {make_name(name), number});
  }

  Expr let(const ExprNode& e) {
    const bool uniform = is_uniform(e.children[0]);
    const Expr value = run(e.children[0]);
    env_.names.push_back(
        {e.name, uniform ? ElementKind::kNumber : ElementKind::kTensor});
    const Expr body = run(e.children[1]);
    env_.names.pop_back();
    return with_children(e, {value, body});
  }

  ElementEnv env_;
};

}  // namespace

Expr element_to_tensor(const Expr& e, const ElementEnv& env) {
  const Expr plain = with_unique_bindings(fold(e));
  return share(Translator(env).run(Guard(env).run(plain)));
}

}  // namespace sy::lang
