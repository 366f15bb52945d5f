#include "model/exact_out.h"

#include <algorithm>
#include <utility>

#include "lang/compile.h"
#include "model/foreach.h"

namespace sy::model {
namespace {

bool exact_dispatch(const Operator& op) {
  if (op.contract.dtype.empty()) return true;
  const auto& called = op.contract.dtype[0].operators;
  return std::none_of(called.begin(), called.end(), [](const auto& name) {
    return name == "result_type" || name.starts_with("result_type.");
  });
}

}  // namespace

bool ExactOut::of(const Operator& op) {
  if (const auto it = known_.find(&op); it != known_.end()) return it->second;
  return known_[&op] = find(op);
}

bool ExactOut::find(const Operator& op) {
  if (op.has_tag("wide_out")) return false;
  const bool tile = op.kind() == lang::OperatorKind::kReduce ||
                    op.kind() == lang::OperatorKind::kScan;
  if (tile && op.base.schema.returns().size() > 1) return true;
  for (const char* tag : {"view_copy", "exact_out", "copied_out"}) {
    if (op.has_tag(tag)) return true;
  }
  for (const char* tag :
       {"pointwise", "reduction", "nondeterministic_seeded"}) {
    if (op.has_tag(tag)) return false;
  }
  if (op.kind() == lang::OperatorKind::kDispatch) return exact_dispatch(op);
  if (op.kind() != lang::OperatorKind::kComposite) return false;
  const auto names = composite_code(model_, op).operators;
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return called(name); });
}

bool ExactOut::called(const std::string& name) {
  if (const auto* own = model_.named(name.substr(0, name.find('.')))) {
    for (const Operator* o : *own) {
      if (o->base.name == name) return of(*o);
    }
  }
  return elsewhere_ && elsewhere_(name);
}

lang::TensorCode composite_code(const Model& model, const Operator& op) {
  std::vector<Type> types;
  for (const Return& r : op.base.schema.returns()) types.push_back(r.type);
  lang::Diagnostics diagnostics;
  if (op.entry->is_foreach) {
    auto plan = plan_foreach(model, op, diagnostics);
    if (!plan) throw lang::LangError(diagnostics);
    return std::move(plan->each);
  }
  auto code = lang::compile_tensor(op.entry->composite->expr,
                                   lang::TensorEnv::of(op.base.schema), model,
                                   types, diagnostics);
  if (!code) throw lang::LangError(diagnostics);
  return std::move(*code);
}

}  // namespace sy::model
