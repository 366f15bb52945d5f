#include <algorithm>

#include "lang/format.h"
#include "lang/index.h"
#include "lang/tensor_compiler.h"
#include "lang/tensor_names.h"

namespace sy::lang::detail {

namespace {

Type letter(char c) {
  switch (c) {
    case 'i': return TypeKind::kInt;
    case 'o': return Type::optional_of(TypeKind::kInt);
    case 'b': return TypeKind::kBool;
    case 'n': return TypeKind::kFloat;
    case 't': return TypeKind::kTensor;
    case 'T': return Type::list_of(TypeKind::kTensor);
    default: return Type::list_of(TypeKind::kInt);
  }
}

}  // namespace

Value TensorCompiler::call(const ExprNode& e) {
  std::vector<CallArgument> args;
  bool any_tensor = e.children.empty();
  for (std::size_t i = 0; i < e.children.size(); ++i) {
    args.push_back(
        {e.keywords.empty() ? "" : e.keywords[i], run(e.children[i])});
    any_tensor |= args.back().value.is_tensor();
  }
  if (!any_tensor) {
    if (auto v = number_call(e, args)) return *v;
    // `max` of two numbers, say, though there are operators of that name.
    const auto overloads = ops_.lookup(e.name);
    if (overloads.empty() || !resolve(e.name, overloads, args).resolved) {
      if (auto v = index_call(e, args)) return *v;
    }
  }
  return apply(e, e.name, args);
}

std::optional<Value> TensorCompiler::number_call(
    const ExprNode& e, const std::vector<CallArgument>& args) {
  const bool known =
      std::find(std::begin(kNumberFunctions), std::end(kNumberFunctions),
                e.name) != std::end(kNumberFunctions);
  if (!known || args.size() != 1 || !args[0].value.is_number()) {
    return std::nullopt;
  }
  headers_.insert("<cmath>");
  return Value::of(
      TypeKind::kFloat,
      {cpp_call("std::" + e.name, {number(args[0].value).text})},
      plan_of(PlanKind::kFunction, {number_plan(args[0].value)}, e.name));
}

std::optional<Value> TensorCompiler::index_call(
    const ExprNode& e, const std::vector<CallArgument>& args) {
  for (const IndexFunction& f : index_functions()) {
    if (f.name != e.name || f.parameters.size() != args.size()) continue;
    std::vector<std::string> text;
    std::vector<Plan> plans;
    if (f.op) text.push_back(op_);
    for (std::size_t i = 0; i < args.size(); ++i) {
      const auto c = convert(args[i].value, letter(f.parameters[i]));
      if (!c) break;
      text.push_back(c->text);
      plans.push_back(c->plan);
    }
    if (text.size() != args.size() + f.op) continue;
    headers_.emplace(f.header);
    return Value::of(letter(f.result), {cpp_call(f.cpp, text)},
                     plan_index_function(f, std::move(plans)));
  }
  return std::nullopt;
}

Value TensorCompiler::apply(const ExprNode& e, std::string_view name,
                            const std::vector<CallArgument>& args) {
  const auto overloads = ops_.lookup(name);
  if (overloads.empty()) {
    fail(e, "unknown operator '{}'{}", name, ops_.suggest_name(name));
  }
  auto [resolved, error] = resolve(name, overloads, args);
  if (!resolved) fail(e, std::move(error));
  const FunctionSchema& schema = *resolved->schema;
  std::string full(schema.name().name);
  if (!schema.name().overload.empty()) {
    append(full, ".{}", schema.name().overload);
  }
  called_.insert(std::move(full));
  headers_of(schema, *resolved->plan);
  Value v = Value::of(
      TypeKind::kTensor,
      {cpp_call(fmt::format("{}::{}", ops_.cpp_namespace(schema), name),
                {resolved->text})},
      resolved->plan);
  v.types.clear();
  for (const Return& r : schema.returns()) v.types.push_back(r.type);
  if (v.types.empty()) fail(e, "'{}' returns nothing", name);
  if (v.types.size() > 1) v.kind = Value::Kind::kTuple;
  return v;
}

void TensorCompiler::headers_of(const FunctionSchema& f, const PlanNode& call) {
  if (std::string own = ops_.cpp_header(f); !own.empty()) {
    headers_.insert(std::move(own));
  }
  const auto arguments = f.arguments();
  for (std::size_t i = 0; i < call.children.size(); ++i) {
    const DefaultValue value = arguments[i].default_value;
    if (!call.children[i] && value && value.is(DefaultValue::Kind::kDouble)) {
      cpp_double(value.as_double(), headers_);
    }
  }
}

Value TensorCompiler::method(const ExprNode& e) {
  const Value self = run(e.children[0]);
  const auto* m =
      std::find_if(std::begin(kMetadata), std::end(kMetadata),
                   [&](const Metadata& known) { return known.name == e.name; });
  if (m == std::end(kMetadata)) {
    if (e.kind == ExprKind::kAttribute) {
      fail(e, "'.{0}' has no arguments; an operator is called: '.{0}()'",
           e.name);
    }
    std::vector<CallArgument> args = {{"", self}};
    for (std::size_t i = 1; i < e.children.size(); ++i) {
      args.push_back(
          {e.keywords.empty() ? "" : e.keywords[i - 1], run(e.children[i])});
    }
    return apply(e, e.name, args);
  }
  const std::size_t given = e.children.size() - 1;
  if (given != static_cast<std::size_t>(m->takes_dim)) {
    fail(e, "'{}' expects {}, got {}", e.name,
         m->takes_dim ? "1 argument" : "no arguments", given);
  }
  std::vector<std::string> args;
  std::vector<Plan> plans = {self.plan};
  if (m->takes_dim) {
    const Value dim = integer(e.children[1]);
    args.push_back(dim.cpp.text);
    plans.push_back(dim.plan);
  }
  Cpp text{cpp_call(fmt::format("{}.{}", tensor(e.children[0], self), e.name),
                    args)};
  if (m->type.empty()) {
    return {Value::Kind::kOptions, {}, std::move(text), {}, self.plan};
  }
  return Value::of(named(m->type), std::move(text),
                   plan_of(PlanKind::kMetadata, std::move(plans), e.name));
}

}  // namespace sy::lang::detail
