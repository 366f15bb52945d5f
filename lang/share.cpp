#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lang/ast.h"
#include "lang/format.h"

namespace sy::lang {
namespace {

bool is_worth_a_name(const Expr& e) {
  return e->depth > 1 &&
         (e->kind == ExprKind::kCall || e->kind == ExprKind::kBinary ||
          e->kind == ExprKind::kMethod) &&
         !free_names(e).empty();
}

struct Binding {
  std::string name;
  Expr value;
};

// A part of an expression that is evaluated as a whole: bindings in order, and
// the value last, without a name. Branches of an `if` and comprehensions are
// parts of their own.
class Part {
 public:
  explicit Part(std::vector<std::string>& used) : used_(used) {}

  Expr run(const Expr& e) {
    Expr body = flatten(e);
    lines_.push_back({"", std::move(body)});
    while (share_one()) {
    }
    Expr result = lines_.back().value;
    for (auto it = lines_.rbegin() + 1; it != lines_.rend(); ++it) {
      result = make_let(it->name, it->value, result);
    }
    return result;
  }

 private:
  struct Seen {
    Expr expr;
    std::size_t line;  // the first that it is met in
    int count;
  };

  // Pulls the lets out; bindings have distinct names, so nothing is captured.
  Expr flatten(const Expr& e) {
    if (e->kind == ExprKind::kLet) {
      Expr value = flatten(e->children[0]);
      for (const Binding& b : lines_) {
        if (equal(b.value, value)) {
          return flatten(
              substitute(e->children[1], e->name, make_name(b.name)));
        }
      }
      lines_.push_back({e->name, std::move(value)});
      return flatten(e->children[1]);
    }
    std::vector<Expr> children;
    for (std::size_t i = 0; i < e->children.size(); ++i) {
      const Expr& c = e->children[i];
      children.push_back(is_apart(*e, i) ? Part(used_).run(c) : flatten(c));
    }
    return children.empty() ? e : with_children(*e, std::move(children));
  }

  static bool is_apart(const ExprNode& e, std::size_t i) {
    return (e.kind == ExprKind::kIf && i > 0) ||
           (e.kind == ExprKind::kComprehension && i != 1);
  }

  // All in the order in which they are met, and by hash.
  struct AllSeen {
    std::vector<Seen> all;
    std::unordered_multimap<std::size_t, std::size_t> places;
  };

  void count(const Expr& e, std::size_t line, AllSeen& seen) const {
    if (is_worth_a_name(e)) {
      const std::size_t h = hash(e);
      const auto [begin, end] = seen.places.equal_range(h);
      for (auto at = begin; at != end; ++at) {
        Seen& s = seen.all[at->second];
        if (!equal(s.expr, e)) continue;
        // Its parts were counted where it was met first.
        ++s.count;
        return;
      }
      seen.places.emplace(h, seen.all.size());
      seen.all.push_back({e, line, 1});
    }
    for (std::size_t i = 0; i < e->children.size(); ++i) {
      if (!is_apart(*e, i)) count(e->children[i], line, seen);
    }
  }

  // Names what occurs more than once, the largest first.
  bool share_one() {
    AllSeen seen;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      count(lines_[i].value, i, seen);
    }
    const Seen* best = nullptr;
    for (const Seen& s : seen.all) {
      if (s.count < 2) continue;
      if (!best || s.expr->depth > best->expr->depth) best = &s;
    }
    if (!best) return false;
    const std::string name = fresh();
    const Expr with = make_name(name);
    for (Binding& b : lines_) {
      if (!equal(b.value, best->expr)) {
        b.value = replace(b.value, best->expr, with);
      }
    }
    // A line that is the whole of it becomes another name for it.
    const auto at = static_cast<std::ptrdiff_t>(best->line);
    lines_.insert(lines_.begin() + at, {name, best->expr});
    for (std::size_t i = best->line + 1; i < lines_.size(); ++i) {
      if (equal(lines_[i].value, best->expr)) lines_[i].value = with;
    }
    return true;
  }

  std::string fresh() {
    for (int i = 0;; ++i) {
      std::string name = fmt::format("t{}", i);
      if (std::find(used_.begin(), used_.end(), name) != used_.end()) continue;
      used_.push_back(name);
      return name;
    }
  }

  std::vector<std::string>& used_;
  std::vector<Binding> lines_;
};

void collect_names(const Expr& e, std::vector<std::string>& out) {
  if (!e->name.empty()) out.push_back(e->name);
  for (const Expr& c : e->children) collect_names(c, out);
}

// Names that stand for names are put in.
Expr without_aliases(const Expr& e) {
  std::vector<Expr> children;
  for (const Expr& c : e->children) children.push_back(without_aliases(c));
  if (e->kind == ExprKind::kLet && children[0]->kind == ExprKind::kName) {
    return substitute(children[1], e->name, children[0]);
  }
  return children.empty() ? e : with_children(*e, std::move(children));
}

}  // namespace

Expr share(const Expr& e) {
  const Expr distinct = with_unique_bindings(e);
  std::vector<std::string> used;
  collect_names(distinct, used);
  return without_aliases(Part(used).run(distinct));
}

}  // namespace sy::lang
