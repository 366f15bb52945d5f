#include "model/foreach.h"

#include "lang/cpp_names.h"
#include "lang/format.h"
#include "model/cpp_types.h"

namespace sy::model {
namespace {

bool is_element_list(Type t) {
  return t.is_list() &&
         (t.element() == TypeKind::kTensor || t.element() == TypeKind::kScalar);
}

// The operator that writes the result of a call of `name` in place.
const Operator* inplace_operator(const Model& model, const std::string& name,
                                 const std::vector<std::string>& called) {
  const auto* known = model.named(name + '_');
  if (known == nullptr) return nullptr;
  for (const Operator* op : *known) {
    for (const std::string& c : called) {
      if (op->base.name == c && op->inplace) return op;
    }
  }
  return known->size() == 1 ? known->front() : nullptr;
}

// The call `code`, "sy::add(self[i], other[i])", on the tensor `each` in place.
std::optional<std::string> inplace_call(const Model& model, const Operator& op,
                                        const lang::TensorCode& code,
                                        const std::string& each) {
  const lang::ExprNode& root = *op.entry->composite->expr;
  if (root.kind != lang::ExprKind::kCall) return std::nullopt;
  const Operator* inner = inplace_operator(model, root.name, code.operators);
  if (inner == nullptr) return std::nullopt;
  // The namespace of the C++ function: sy, or that of an own library.
  const std::string function =
      fmt::format("{}::{}", model.cpp_namespace(inner->base.schema), root.name);
  const std::string head = function + "(self[i]";
  if (!code.value.starts_with(head)) return std::nullopt;
  std::string rest = code.value.substr(head.size());
  if (!inner->entry->method_variant) {
    return fmt::format("{}_({}{}", function, each, rest);
  }
  if (rest.starts_with(", ")) rest.erase(0, 2);
  return fmt::format("{}.{}_({}", each, root.name, rest);
}

}  // namespace

std::optional<ForeachPlan> plan_foreach(const Model& model, const Operator& op,
                                        lang::Diagnostics& diagnostics) {
  const FunctionSchema& schema = op.base.schema;
  ForeachPlan plan;
  lang::TensorEnv env;
  env.op = op.base.name;
  if (schema.argument_index("i") >= 0) {
    diagnostics.error(op.entry->func.start(),
                      "an argument of 'foreach:' cannot be called 'i', which "
                      "is the index of an element");
    return std::nullopt;
  }
  env.add("i", TypeKind::kInt);
  for (const Argument& a : schema.arguments()) {
    const std::string name = parameter_name(a);
    if (!is_element_list(a.type)) {
      env.add(std::string(a.name.view()), a.type, name);
      continue;
    }
    env.add(std::string(a.name.view()), a.type.element(), name + "[i]");
    plan.lists.push_back(name);
  }
  const Type wanted[] = {Type(TypeKind::kTensor)};
  auto code = lang::compile_tensor(op.entry->composite->expr, env, model,
                                   wanted, diagnostics);
  if (!code) return std::nullopt;
  // The in-place form of an interpreted operator stores the expression's
  // result; an interpreted model knows the library's operators by schema alone.
  if (op.inplace && !model.is_interpreted()) {
    std::set<std::string> taken;
    for (std::string& name : parameter_names(schema)) {
      taken.insert(std::move(name));
    }
    lang::add_bound_names(op.entry->composite->expr, taken);
    plan.written = lang::fresh_name("each", taken);
    auto call = inplace_call(model, op, *code, plan.written);
    if (!call) {
      diagnostics.error(op.entry->composite->text.start(),
                        "the in-place form needs a call of an operator that "
                        "has one, with 'self' first; 'forms: {inplace: none}' "
                        "drops it");
      return std::nullopt;
    }
    plan.inplace = std::move(*call);
  }
  plan.each = std::move(*code);
  return plan;
}

}  // namespace sy::model
