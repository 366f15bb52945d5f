#include "lang/ast.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "lang/format.h"

namespace sy::lang {
namespace {

bool binds(const ExprNode& e) {
  return e.kind == ExprKind::kLet || e.kind == ExprKind::kComprehension;
}

// Whether child `i` of a binding node is in the scope of its name. The list of
// a comprehension and the value of a let are outside.
bool in_scope(const ExprNode& e, std::size_t i) {
  return e.kind == ExprKind::kLet ? i == 1 : i != 1;
}

void collect_free(const Expr& e, std::vector<std::string>& bound,
                  std::set<std::string>& out) {
  const std::string name = dotted_name(e);
  if (!name.empty()) {
    const std::string root = name.substr(0, name.find('.'));
    if (std::find(bound.begin(), bound.end(), root) == bound.end()) {
      out.insert(name);
    }
    return;
  }
  for (std::size_t i = 0; i < e->children.size(); ++i) {
    const bool scoped = binds(*e) && in_scope(*e, i);
    if (scoped) bound.push_back(e->name);
    collect_free(e->children[i], bound, out);
    if (scoped) bound.pop_back();
  }
}

template <class F>
Expr map_children(const Expr& e, F&& f) {
  bool changed = false;
  std::vector<Expr> children;
  children.reserve(e->children.size());
  for (std::size_t i = 0; i < e->children.size(); ++i) {
    children.push_back(f(i, e->children[i]));
    changed |= children.back() != e->children[i];
  }
  return changed ? with_children(*e, std::move(children)) : e;
}

struct Renamer {
  std::set<std::string> used;

  std::string fresh(const std::string& name) {
    if (used.insert(name).second) return name;
    for (int i = 1;; ++i) {
      std::string candidate = fmt::format("{}_{}", name, i);
      if (used.insert(candidate).second) return candidate;
    }
  }

  Expr run(const Expr& e) {
    if (!binds(*e)) {
      return map_children(e,
                          [&](std::size_t, const Expr& c) { return run(c); });
    }
    const std::string name = fresh(e->name);
    ExprNode copy = *e;
    copy.name = name;
    for (std::size_t i = 0; i < copy.children.size(); ++i) {
      Expr& child = copy.children[i];
      if (name != e->name && in_scope(*e, i)) {
        child = substitute(child, e->name, make_name(name));
      }
      child = run(child);
    }
    return make_node(std::move(copy));
  }
};

}  // namespace

std::string_view to_string(Op op) {
  static constexpr std::string_view kText[] = {
      "-",  "not", "+", "-",  "*", "/",  "//",  "%", "**",
      "==", "!=",  "<", "<=", ">", ">=", "and", "or"};
  return kText[static_cast<int>(op)];
}

bool operator==(const Number& a, const Number& b) {
  if (a.is_int != b.is_int) return false;
  if (a.is_int) return a.i == b.i;
  return std::bit_cast<std::uint64_t>(a.d) ==
             std::bit_cast<std::uint64_t>(b.d) ||
         (std::isnan(a.d) && std::isnan(b.d));
}

Expr make_node(ExprNode node) {
  node.depth = 1;
  for (const Expr& c : node.children) {
    node.depth = std::max(node.depth, c->depth + 1);
  }
  return std::make_shared<const ExprNode>(std::move(node));
}

Expr with_children(const ExprNode& e, std::vector<Expr> children) {
  ExprNode copy = e;
  copy.children = std::move(children);
  return make_node(std::move(copy));
}

Expr make_number(Number n, const Location& at) {
  return make_node({.kind = ExprKind::kNumber, .number = n, .at = at});
}
Expr make_int(std::int64_t v, const Location& at) {
  return make_number(Number::of(v), at);
}
Expr make_double(double v, const Location& at) {
  return make_number(Number::of(v), at);
}
Expr make_bool(bool v, const Location& at) {
  return make_node({.kind = ExprKind::kBool,
                    .number = Number::of(std::int64_t{v}),
                    .at = at});
}
Expr make_none(const Location& at) {
  return make_node({.kind = ExprKind::kNone, .at = at});
}
Expr make_string(std::string v, const Location& at) {
  return make_node({.kind = ExprKind::kString, .name = std::move(v), .at = at});
}
Expr make_name(std::string v, const Location& at) {
  return make_node({.kind = ExprKind::kName, .name = std::move(v), .at = at});
}
Expr make_unary(Op op, Expr x, const Location& at) {
  return make_node({.kind = ExprKind::kUnary,
                    .op = op,
                    .children = {std::move(x)},
                    .at = at});
}
Expr make_binary(Op op, Expr a, Expr b, const Location& at) {
  return make_node({.kind = ExprKind::kBinary,
                    .op = op,
                    .children = {std::move(a), std::move(b)},
                    .at = at});
}
Expr make_call(std::string name, std::vector<Expr> args, const Location& at,
               std::vector<std::string> keywords) {
  return make_node({.kind = ExprKind::kCall,
                    .name = std::move(name),
                    .children = std::move(args),
                    .keywords = std::move(keywords),
                    .at = at});
}
Expr make_method(Expr receiver, std::string name, std::vector<Expr> args,
                 const Location& at, std::vector<std::string> keywords) {
  args.insert(args.begin(), std::move(receiver));
  return make_node({.kind = ExprKind::kMethod,
                    .name = std::move(name),
                    .children = std::move(args),
                    .keywords = std::move(keywords),
                    .at = at});
}
Expr make_if(Expr condition, Expr a, Expr b, const Location& at) {
  return make_node(
      {.kind = ExprKind::kIf,
       .children = {std::move(condition), std::move(a), std::move(b)},
       .at = at});
}
Expr make_let(std::string name, Expr value, Expr body, const Location& at) {
  return make_node({.kind = ExprKind::kLet,
                    .name = std::move(name),
                    .children = {std::move(value), std::move(body)},
                    .at = at});
}

bool equal(const Expr& a, const Expr& b) {
  if (a == b) return true;
  if (!a || !b) return false;
  if (a->kind != b->kind || a->op != b->op || a->depth != b->depth ||
      a->name != b->name || !(a->number == b->number) ||
      a->children.size() != b->children.size() || a->keywords != b->keywords) {
    return false;
  }
  for (std::size_t i = 0; i < a->children.size(); ++i) {
    if (!equal(a->children[i], b->children[i])) return false;
  }
  return true;
}

std::size_t hash(const Expr& e) {
  std::size_t h =
      static_cast<std::size_t>(e->kind) * 31 + static_cast<std::size_t>(e->op);
  const auto mix = [&h](std::size_t v) {
    h ^= v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
  };
  mix(std::hash<std::string>()(e->name));
  mix(std::hash<double>()(e->number.as_double()));
  for (const Expr& c : e->children) mix(hash(c));
  return h;
}

bool is_number(const Expr& e) { return e && e->kind == ExprKind::kNumber; }
bool is_number(const Expr& e, double value) {
  return is_number(e) && e->number.equals(value);
}
bool is_name(const Expr& e, std::string_view name) {
  return e && e->kind == ExprKind::kName && e->name == name;
}
bool is_call(const Expr& e, std::string_view name, std::size_t arguments) {
  return e && e->kind == ExprKind::kCall && e->name == name &&
         e->children.size() == arguments;
}

std::string dotted_name(const Expr& e) {
  if (e->kind == ExprKind::kName) return e->name;
  if (e->kind == ExprKind::kAttribute) {
    const std::string base = dotted_name(e->children[0]);
    if (!base.empty()) return fmt::format("{}.{}", base, e->name);
  }
  return {};
}

std::vector<std::string> free_names(const Expr& e) {
  std::set<std::string> names;
  std::vector<std::string> bound;
  collect_free(e, bound, names);
  return {names.begin(), names.end()};
}

bool mentions(const Expr& e, std::string_view name) {
  if (dotted_name(e) == name) return true;
  for (std::size_t i = 0; i < e->children.size(); ++i) {
    if (binds(*e) && in_scope(*e, i) && e->name == name) continue;
    if (mentions(e->children[i], name)) return true;
  }
  return false;
}

Expr substitute(const Expr& e, std::string_view name, const Expr& value) {
  if (dotted_name(e) == name) return value;
  return map_children(e, [&](std::size_t i, const Expr& c) {
    if (binds(*e) && in_scope(*e, i) && e->name == name) return c;
    return substitute(c, name, value);
  });
}

Expr replace(const Expr& e, const Expr& what, const Expr& with) {
  if (equal(e, what)) return with;
  return map_children(
      e, [&](std::size_t, const Expr& c) { return replace(c, what, with); });
}

Expr with_unique_bindings(const Expr& e) {
  Renamer renamer;
  for (const std::string& name : free_names(e)) {
    renamer.used.insert(name.substr(0, name.find('.')));
  }
  return renamer.run(e);
}

}  // namespace sy::lang
