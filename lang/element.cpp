#include "lang/element.h"

#include <algorithm>
#include <utility>

#include "lang/format.h"
#include "lang/parser.h"

namespace sy::lang {
namespace {

constexpr ElementFunction kSugar[] = {
    {"where", 3, 3, std::nullopt},
    {"relu", 1, 1, std::nullopt},
    {"max", 2, 8, std::nullopt},
    {"min", 2, 8, std::nullopt},
};

// The primitives that are written as operators in an expanded expression.
struct OperatorName {
  std::string_view function;
  Op op;
};
constexpr OperatorName kOperators[] = {
    {"neg", Op::kNeg},
    {"logical_not", Op::kNot},
    {"add", Op::kAdd},
    {"sub", Op::kSub},
    {"mul", Op::kMul},
    {"div", Op::kDiv},
    {"floor_div", Op::kFloorDiv},
    {"remainder", Op::kMod},
    {"pow", Op::kPow},
    {"eq", Op::kEq},
    {"ne", Op::kNe},
    {"lt", Op::kLt},
    {"le", Op::kLe},
    {"gt", Op::kGt},
    {"ge", Op::kGe},
    {"logical_and", Op::kAnd},
    {"logical_or", Op::kOr},
};

bool yields_bool(PrimType t) {
  return t == PrimType::T_B || t == PrimType::TT_B || t == PrimType::B_B ||
         t == PrimType::BB_B;
}

std::string count(int n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

class Checker {
 public:
  Checker(const ElementEnv& env, Diagnostics& diagnostics)
      : env_(env), diagnostics_(diagnostics) {}

  ElementType run(const Expr& e) {
    switch (e->kind) {
      case ExprKind::kNumber: return {};
      case ExprKind::kBool: return {.is_bool = true};
      case ExprKind::kNone:
        return fail(*e, "None can only be compared: 'x == None'");
      case ExprKind::kString:
        return fail(*e, "a string can only be compared with a str argument");
      case ExprKind::kName:
      case ExprKind::kAttribute: return name(e);
      case ExprKind::kUnary: {
        const ElementType t = run(e->children[0]);
        return {t.uniform, e->op == Op::kNot};
      }
      case ExprKind::kBinary: return binary(*e);
      case ExprKind::kCall: return call(*e);
      case ExprKind::kIf: {
        const ElementType c = run(e->children[0]);
        const ElementType a = run(e->children[1]);
        const ElementType b = run(e->children[2]);
        return {c.uniform && a.uniform && b.uniform, a.is_bool && b.is_bool};
      }
      case ExprKind::kLet: return let(*e);
      case ExprKind::kMethod:
        return fail(*e, "an element has no methods; got '.{}()'", e->name);
      case ExprKind::kList:
      case ExprKind::kComprehension:
        return fail(*e, "expected the value of one element, got a list");
      case ExprKind::kIndex:
      case ExprKind::kSlice: return fail(*e, "an element cannot be indexed");
    }
    return {};
  }

  bool ok() const { return ok_; }

 private:
  template <class... Args>
  ElementType fail(const ExprNode& e, fmt::format_string<const Args&...> format,
                   const Args&... args) {
    ok_ = false;
    diagnostics_.error(e.at, fmt::format(format, args...));
    return {};
  }

  ElementType name(const Expr& e) {
    const std::string full = dotted_name(e);
    if (full.empty()) {
      return fail(*e, "an element has no attributes; got '.{}'", e->name);
    }
    for (auto it = locals_.rbegin(); it != locals_.rend(); ++it) {
      if (it->first == full) return it->second;
    }
    const ElementName* n = env_.find(full);
    if (!n) return unknown_name(*e, full);
    if (n->kind == ElementKind::kString) {
      return fail(
          *e, "'{0}' is a str; compare it with a literal: {0} == 'text'", full);
    }
    return {n->kind != ElementKind::kTensor, n->kind == ElementKind::kBool};
  }

  ElementType unknown_name(const ExprNode& e, const std::string& full) {
    std::vector<std::string_view> names;
    for (const auto& [n, type] : locals_) names.push_back(n);
    for (const ElementName& n : env_.names) names.push_back(n.name);
    if (find_element_function(full)) {
      return fail(e, "'{}' is a function; its arguments are missing", full);
    }
    return fail(e, "unknown name '{}'{}", full, suggest(full, names));
  }

  // `x == None` and `mode == 'text'`, which no other operator takes.
  bool is_question(const ExprNode& e) {
    for (int i = 0; i < 2; ++i) {
      const Expr& literal = e.children[i];
      const bool none = literal->kind == ExprKind::kNone;
      if (!none && literal->kind != ExprKind::kString) continue;
      const Expr& other = e.children[1 - i];
      const std::string full = dotted_name(other);
      const ElementName* n = full.empty() ? nullptr : env_.find(full);
      if (e.op != Op::kEq && e.op != Op::kNe) {
        fail(e, "expected '==' or '!=', got '{}'", to_string(e.op));
      } else if (none && other->kind == ExprKind::kNone) {
      } else if (!full.empty() && !n) {
        unknown_name(*other, full);
      } else if (none && (!n || !n->optional)) {
        fail(*other, "expected an optional argument beside None");
      } else if (!none && (!n || n->kind != ElementKind::kString)) {
        fail(*other, "expected a str argument beside a string");
      }
      return true;
    }
    return false;
  }

  ElementType binary(const ExprNode& e) {
    if (is_question(e)) return {true, true};
    const ElementType a = run(e.children[0]);
    const ElementType b = run(e.children[1]);
    const bool is_bool =
        is_comparison(e.op) || e.op == Op::kAnd || e.op == Op::kOr;
    return {a.uniform && b.uniform, is_bool};
  }

  ElementType let(const ExprNode& e) {
    const ElementType value = run(e.children[0]);
    for (const auto& [n, type] : locals_) {
      if (n == e.name) return fail(e, "'{}' is already defined", e.name);
    }
    if (env_.find(e.name)) {
      return fail(e, "'{}' is already defined", e.name);
    }
    locals_.emplace_back(e.name, value);
    const ElementType body = run(e.children[1]);
    locals_.pop_back();
    return body;
  }

  ElementType call(const ExprNode& e) {
    std::vector<ElementType> types;
    for (const Expr& c : e.children) types.push_back(run(c));
    const ElementFunction* f = find_element_function(e.name);
    if (!f) {
      std::vector<std::string_view> names;
      for (const ElementFunction& known : element_functions()) {
        names.push_back(known.name);
      }
      return fail(e, "unknown function '{}'{}", e.name, suggest(e.name, names));
    }
    if (!e.keywords.empty()) {
      return fail(e, "'{}' takes no keyword arguments", e.name);
    }
    const int n = static_cast<int>(types.size());
    if (n < f->min_arguments || n > f->max_arguments) {
      std::string expected = count(f->min_arguments, "argument");
      if (f->max_arguments > f->min_arguments) {
        expected = "at least " + expected;
      }
      return fail(e, "'{}' expects {}, got {}", e.name, expected, n);
    }
    ElementType result;
    for (const ElementType& t : types) result.uniform &= t.uniform;
    if (f->prim == Prim::select || e.name == "where") {
      result.is_bool = types[1].is_bool && types[2].is_bool;
    } else if (f->prim) {
      result.is_bool = yields_bool(kPrims[static_cast<int>(*f->prim)].type);
    }
    return result;
  }

  const ElementEnv& env_;
  Diagnostics& diagnostics_;
  std::vector<std::pair<std::string, ElementType>> locals_;
  bool ok_ = true;
};

std::vector<ElementFunction> all_functions() {
  std::vector<ElementFunction> all(std::begin(kSugar), std::end(kSugar));
  for (int i = 0; i < static_cast<int>(Prim::kCount); ++i) {
    const int n = arity(kPrims[i].type);
    all.push_back({kPrims[i].name, n, n, static_cast<Prim>(i)});
  }
  std::sort(all.begin(), all.end(),
            [](const ElementFunction& a, const ElementFunction& b) {
              return a.name < b.name;
            });
  return all;
}

Expr expand_call(const ExprNode& e, std::vector<Expr> c) {
  for (const OperatorName& o : kOperators) {
    if (e.name != o.function) continue;
    return c.size() == 1 ? make_unary(o.op, c[0], e.at)
                         : make_binary(o.op, c[0], c[1], e.at);
  }
  if (e.name == "where" || e.name == "select") {
    return make_if(c[0], c[1], c[2], e.at);
  }
  // Written so that NaN stays NaN and the slope at 0 is 0.
  if (e.name == "relu") {
    const Expr zero = make_int(0, e.at);
    const bool small = c[0]->children.empty();
    const Expr x = small ? c[0] : make_name("relu_x", e.at);
    const Expr result =
        make_if(make_binary(Op::kLe, x, zero, e.at), zero, x, e.at);
    return small ? result : make_let("relu_x", c[0], result, e.at);
  }
  if (e.name == "max" || e.name == "min") {
    const std::string name = e.name + "imum";
    Expr result = c[0];
    for (std::size_t i = 1; i < c.size(); ++i) {
      result = make_call(name, {result, c[i]}, e.at);
    }
    return result;
  }
  return with_children(e, std::move(c));
}

}  // namespace

std::span<const ElementFunction> element_functions() {
  static const std::vector<ElementFunction> kAll = all_functions();
  return kAll;
}

const ElementFunction* find_element_function(std::string_view name) {
  const auto all = element_functions();
  const auto it = std::lower_bound(
      all.begin(), all.end(), name,
      [](const ElementFunction& f, std::string_view n) { return f.name < n; });
  return it != all.end() && it->name == name ? &*it : nullptr;
}

ElementEnv ElementEnv::of(const FunctionSchema& schema) {
  ElementEnv env;
  for (const Argument& a : schema.arguments()) {
    if (a.is_out()) continue;
    const Type type = a.type.without_optional();
    ElementKind kind;
    switch (type.kind()) {
      case TypeKind::kTensor: kind = ElementKind::kTensor; break;
      case TypeKind::kScalar:
      case TypeKind::kInt:
      case TypeKind::kSymInt:
      case TypeKind::kSymFloat:
      case TypeKind::kFloat: kind = ElementKind::kNumber; break;
      case TypeKind::kSymBool:
      case TypeKind::kBool: kind = ElementKind::kBool; break;
      case TypeKind::kStr: kind = ElementKind::kString; break;
      default: continue;
    }
    env.names.push_back(
        {std::string(a.name.view()), kind, a.type.is_optional()});
  }
  return env;
}

ElementEnv ElementEnv::of_derivative(const FunctionSchema& schema) {
  ElementEnv env = of(schema);
  env.names.insert(env.names.begin(), {"grad", ElementKind::kTensor});
  if (!env.find("result")) {
    env.names.push_back({"result", ElementKind::kTensor});
  }
  return env;
}

const ElementName* ElementEnv::find(std::string_view name) const {
  for (const ElementName& n : names) {
    if (n.name == name) return &n;
  }
  return nullptr;
}

std::optional<ElementType> check_element(const Expr& e, const ElementEnv& env,
                                         Diagnostics& diagnostics) {
  Checker checker(env, diagnostics);
  const ElementType type = checker.run(e);
  if (!checker.ok()) return std::nullopt;
  return type;
}

Expr expand_element(const Expr& e) {
  std::vector<Expr> children;
  children.reserve(e->children.size());
  bool changed = false;
  for (const Expr& c : e->children) {
    children.push_back(expand_element(c));
    changed |= children.back() != c;
  }
  if (e->kind == ExprKind::kCall) return expand_call(*e, std::move(children));
  return changed ? with_children(*e, std::move(children)) : e;
}

}  // namespace sy::lang
