#include "codegen/site/operators_names.h"

#include <algorithm>

#include "codegen/emit/describe.h"
#include "codegen/model_names.h"
#include "codegen/site/operators.h"
#include "codegen/text.h"
#include "model/derivative.h"
#include "model/exact_out.h"

namespace sy::codegen::site {
namespace {

using Group = std::vector<const NamedOperators*>;

std::string prefix(const Operator& op) {
  return op.ns == "aten" ? "" : op.ns + "::";
}

std::string plain_name(const Operator& op) {
  return op.base.schema.name().functional_name();
}

bool is_internal(const Operator& op) {
  const std::string name = plain_name(op);
  const bool dunder = op.base.schema.name().is_dunder();
  return (name.starts_with('_') && !dunder) || name.ends_with("_backward");
}

void add(Group& group, const NamedOperators* name) {
  if (std::find(group.begin(), group.end(), name) == group.end()) {
    group.push_back(name);
  }
}

// Public names first.
bool before(const NamedOperators* a, const NamedOperators* b) {
  if (a->internal != b->internal) return b->internal;
  return a->name < b->name;
}

std::string_view last_part(std::string_view name) {
  const std::size_t colons = name.rfind("::");
  return colons == name.npos ? name : name.substr(colons + 2);
}

}  // namespace

std::string operator_path(const Family&, const Operator& op) {
  const std::string ns = op.ns == "aten" ? "" : op.ns + '.';
  return fmt::format("ops/{}{}.html", ns, plain_name(op));
}

std::string family_path(const Family& family) {
  const std::string ns = family.is_own() ? family.ns + '.' : "";
  return fmt::format("families/{}{}.html", ns, family.name);
}

std::string_view stem(std::string_view name) {
  name = last_part(name);
  while (name.starts_with('_')) name.remove_prefix(1);
  for (const std::string_view head :
       {"special_", "linalg_", "foreach_", "safe_", "masked_", "native_"}) {
    if (name.starts_with(head) && name.size() > head.size()) {
      name.remove_prefix(head.size());
    }
  }
  for (const std::string_view tail :
       {"_double_backward", "_backward", "_copy", "_with_indices"}) {
    if (const std::size_t at = name.find(tail); at != 0 && at != name.npos) {
      name = name.substr(0, at);
    }
  }
  while (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

bool has_family(std::span<const Family> families, const Family& family) {
  return std::any_of(families.begin(), families.end(),
                     [&](const Family& f) { return &f == &family; });
}

Names::Names(const Model& model, std::span<const Family> families,
             const Facts& facts)
    : model_(model), families_(families), facts_(facts) {
  group();
  for (const Family& f : families_) {
    for (const Operator& op : f.operators) relate(op);
  }
  find_relatives();
  assign_timings();
  for (auto& [path, n] : names_) {
    for (Group* g : {&n.made_of, &n.used_by, &n.gradient_of, &n.relatives}) {
      std::sort(g->begin(), g->end(), before);
    }
  }
}

void Names::group() {
  for (const Family& f : model_.families()) {
    const bool has_page = has_family(families_, f);
    for (const Operator& op : f.operators) {
      const std::string path = has_page ? operator_path(f, op) : "";
      NamedOperators& n = names_[has_page ? path : prefix(op) + plain_name(op)];
      n.path = path;
      n.operators.push_back(&op);
      of_[&op] = &n;
      for (const Overload* o : op.overloads()) {
        overloads_[o->name].push_back(&n);
      }
    }
  }
  for (auto& [key, n] : names_) {
    std::stable_partition(
        n.operators.begin(), n.operators.end(),
        [](const Operator* op) { return op->is_functional(); });
    const Operator& op = n.first();
    n.name = prefix(op);
    n.name += op.base.schema.name().name.view();
    n.internal = is_internal(op);
    if (n.has_page()) sorted_.push_back(&n);
  }
  std::sort(sorted_.begin(), sorted_.end(),
            [](const auto* a, const auto* b) { return a->name < b->name; });
}

void Names::relate(const Operator& op) {
  if (op.entry->composite) {
    add_calls(op, composite_code(model_, op).operators, false);
  }
  NamedOperators& n = *of_.at(&op);
  if (is_composite(op)) {
    const auto returns = op.base.schema.returns();
    n.is_differentiable |=
        op.entry->derivative.empty() && !op.tensor_arguments().empty() &&
        std::any_of(returns.begin(), returns.end(),
                    [](const Return& r) { return r.type.is_tensor_like(); });
    return;
  }
  lang::Diagnostics quiet;
  const DerivativePlan plan = plan_derivative(model_, op, quiet);
  n.is_differentiable |= !plan.empty();
  for (const GradFormula& f : plan.formulas) add_calls(op, f.operators, true);
}

void Names::add_calls(const Operator& from,
                      const std::vector<std::string>& names, bool in_gradient) {
  NamedOperators& caller = *of_.at(&from);
  for (const std::string& name : names) {
    const auto found = overloads_.find(name);
    if (found == overloads_.end()) continue;
    // The first of several namespaces, as in the lookup of formulas.
    NamedOperators* const to = found->second[0];
    if (to == &caller) continue;
    if (in_gradient) {
      add(to->gradient_of, &caller);
    } else {
      add(caller.made_of, to);
      add(to->used_by, &caller);
    }
  }
}

void Names::find_relatives() {
  std::map<std::string_view, Group> stems;
  for (const NamedOperators* n : sorted_) stems[stem(n->name)].push_back(n);
  for (auto& [key, n] : names_) {
    for (const NamedOperators* other : stems[stem(n.name)]) {
      if (other != &n) n.relatives.push_back(other);
    }
  }
}

void Names::assign_timings() {
  for (const auto& [name, timings] : facts_.timings) {
    NamedOperators* longest = nullptr;
    for (auto& [path, n] : names_) {
      const bool fits = name == n.name || (name.starts_with(n.name) &&
                                           name[n.name.size()] == '_');
      if (fits && (!longest || longest->name.size() < n.name.size())) {
        longest = &n;
      }
    }
    if (!longest) continue;
    auto& to = longest->timings;
    to.insert(to.end(), timings.begin(), timings.end());
  }
}

std::vector<const NamedOperators*> Names::of(const Family& family) const {
  Group out;
  for (const Operator& op : family.operators) add(out, of_.at(&op));
  return out;
}

const OperatorFacts* Names::find_facts(const Operator& op,
                                       std::string_view name) const {
  const auto it = facts_.operators.find(prefix(op) + std::string(name));
  return it == facts_.operators.end() ? nullptr : &it->second;
}

const OperatorFacts* Names::facts(const Operator& op) const {
  const std::string_view name = op.base.schema.name().name.view();
  if (op.base.name != name) {
    if (const OperatorFacts* f = find_facts(op, op.base.name)) return f;
  }
  for (const Operator* other : of_.at(&op)->operators) {
    const bool same = other->base.schema.name().name.view() == name;
    if (same && other != &op) return nullptr;
  }
  return find_facts(op, name);
}

const OperatorFacts* Names::shared_facts(const NamedOperators& name) const {
  const Operator& op = name.first();
  const OperatorFacts* const found =
      find_facts(op, op.base.schema.name().name.view());
  return found == facts(op) ? nullptr : found;
}

}  // namespace sy::codegen::site
