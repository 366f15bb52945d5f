#include "lang/name_parts.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lang/format.h"

namespace sy::lang {
namespace {

void count(const Expr& e, std::size_t most, std::size_t& n) {
  if (++n > most) return;
  for (const Expr& c : e->children) {
    count(c, most, n);
    if (n > most) return;
  }
}

void collect_names(const Expr& e, std::set<std::string>& out) {
  if (!e->name.empty()) out.insert(e->name);
  for (const Expr& c : e->children) collect_names(c, out);
}

class PartNamer {
 public:
  PartNamer(const Expr& e, std::string_view name) {
    collect_names(e, used_);
    depend_.emplace(name);
  }

  // A whole expression, with lets of its own.
  Expr run(const Expr& e) {
    std::vector<Binding> outer;
    outer.swap(bindings_);
    Expr result = flat(e);
    while (!bindings_.empty()) {
      Binding& b = bindings_.back();
      result = make_let(std::move(b.name), std::move(b.value), result);
      bindings_.pop_back();
    }
    bindings_.swap(outer);
    return result;
  }

 private:
  struct Binding {
    std::string name;
    Expr value;
  };

  bool depends(const Expr& e) const {
    if (depend_.contains(dotted_name(e))) return true;
    for (const Expr& c : e->children) {
      if (depends(c)) return true;
    }
    return false;
  }

  // One operation of names and of what does not depend.
  Expr flat(const Expr& e) {
    if (e->kind == ExprKind::kLet) {
      bind(e->name, flat(e->children[0]), depends(e->children[0]));
      return flat(e->children[1]);
    }
    if (e->children.empty() || !dotted_name(e).empty() || !depends(e)) return e;
    std::vector<Expr> children;
    for (std::size_t i = 0; i < e->children.size(); ++i) {
      const bool branch = e->kind == ExprKind::kIf && i > 0;
      children.push_back(branch ? run(e->children[i]) : named(e->children[i]));
    }
    return with_children(*e, std::move(children));
  }

  Expr named(const Expr& e) {
    Expr value = flat(e);
    if (value->children.empty() || !depends(value)) return value;
    std::string name;
    do {
      name = fmt::format("part_{}", ++names_);
    } while (!used_.insert(name).second);
    bind(name, std::move(value), true);
    return make_name(std::move(name));
  }

  void bind(const std::string& name, Expr value, bool dependent) {
    if (dependent) depend_.insert(name);
    bindings_.push_back({name, std::move(value)});
  }

  std::set<std::string> used_;
  std::set<std::string, std::less<>> depend_;
  std::vector<Binding> bindings_;
  int names_ = 0;
};

}  // namespace

std::size_t count_nodes(const Expr& e, std::size_t most) {
  std::size_t n = 0;
  count(e, most, n);
  return n;
}

Expr name_parts(const Expr& e, std::string_view name) {
  return PartNamer(e, name).run(e);
}

}  // namespace sy::lang
