#include "lang/tensor.h"

#include <algorithm>

#include "lang/cpp_names.h"
#include "lang/format.h"
#include "lang/index.h"
#include "lang/tensor_compiler.h"

namespace sy::lang {
namespace detail {

TensorCompiler::TensorCompiler(const TensorEnv& env, const OpTable& ops,
                               Diagnostics& diagnostics)
    : env_(env),
      ops_(ops),
      op_(cpp_string(env.op)),
      diagnostics_(diagnostics) {}

TensorCode TensorCompiler::top(Expr e, std::span<const Type> expected) {
  TensorCode code;
  Lets lets;
  for (const TensorName& n : env_.names) names_.insert(cpp_name(n.name));
  add_bound_names(e, names_);
  while (e->kind == ExprKind::kLet) {
    define(*e, code.statements, lets);
    e = e->children[1];
  }
  const Value v = coerced(e, expected);
  code.value = v.cpp.text;
  code.types = v.types;
  code.plan = bound(std::move(lets), v.plan);
  code.operators.assign(called_.begin(), called_.end());
  code.headers = headers_;
  return code;
}

void TensorCompiler::fail(const ExprNode& e, std::string message) {
  diagnostics_.error(e.at, std::move(message));
  throw TensorFailed{};
}

Plan TensorCompiler::bound(Lets lets, Plan body) {
  for (; !lets.empty(); lets.pop_back()) {
    body = plan_of(PlanKind::kLet, {lets.back().second, std::move(body)},
                   lets.back().first);
  }
  return body;
}

void TensorCompiler::define(const ExprNode& e,
                            std::vector<std::string>& statements, Lets& lets) {
  Value v = run(e.children[0]);
  const std::string name = cpp_name(e.name);
  const auto in_env = [&](const TensorName& n) {
    return cpp_name(n.name) == name;
  };
  if (std::any_of(env_.names.begin(), env_.names.end(), in_env) ||
      std::any_of(locals_.begin(), locals_.end(), [&](const auto& local) {
        return cpp_name(local.first) == name;
      })) {
    fail(e, "'{}' is already defined", e.name);
  }
  if (v.kind == Value::Kind::kNone) fail(e, "None has no type of its own");
  if (v.kind == Value::Kind::kList) {
    // A literal would not outlive the statement.
    const Type ints = Type::list_of(TypeKind::kInt);
    const auto list = convert(v, ints);
    if (!list) fail(e, "only lists of ints can be named by 'let'");
    v = Value::of(ints, {fmt::format("Dims({})", list->text)}, list->plan);
  }
  const bool plain = e.children[0]->kind == ExprKind::kName;
  statements.push_back(fmt::format(
      "{}{} = {};", plain ? "const auto& " : "const auto ", name, v.cpp.text));
  v.cpp = {name};
  v.optional_plan = nullptr;
  lets.emplace_back(e.name, std::exchange(v.plan, plan_name(e.name)));
  locals_.emplace_back(e.name, std::move(v));
}

const Value* TensorCompiler::find_local(std::string_view name) const {
  for (auto it = locals_.rbegin(); it != locals_.rend(); ++it) {
    if (it->first == name) return &it->second;
  }
  return nullptr;
}

Value TensorCompiler::name(const ExprNode& e) {
  if (const Value* local = find_local(e.name)) return *local;
  if (env_.results > 0 && e.name == "grads") {
    fail(e, "the results have gradients of their own: expected grads[0] to {}",
         gradient_name(env_.results - 1));
  }
  if (const TensorName* n = env_.find(e.name)) {
    return Value::of(n->type, {n->cpp}, plan_name(n->name));
  }
  if (const std::string d = cpp_dtype(e.name); !d.empty()) {
    return Value::of(TypeKind::kScalarType, {d},
                     plan_of(PlanKind::kDtype, {}, e.name));
  }
  const auto format = [&](const char* text) {
    return Value::of(TypeKind::kMemoryFormat, {text},
                     plan_of(PlanKind::kFormat, {}, e.name));
  };
  if (e.name == "contiguous_format") {
    return format("MemoryFormat::Contiguous");
  }
  if (e.name == "preserve_format") return format("MemoryFormat::Preserve");
  if (e.name == "channels_last") return format("MemoryFormat::ChannelsLast");
  std::vector<std::string_view> names;
  for (const auto& [n, v] : locals_) names.push_back(n);
  for (const TensorName& n : env_.names) names.push_back(n.name);
  fail(e, "unknown name '{}'{}", e.name, suggest(e.name, names));
}

Value TensorCompiler::run(const Expr& e) {
  switch (e->kind) {
    case ExprKind::kNumber:
      if (e->number.is_int) {
        const bool minus = e->number.i < 0;
        return Value::of(
            TypeKind::kInt,
            {cpp_int(e->number.i), minus ? Cpp::kSign : Cpp::kPrimary},
            plan_number(e->number));
      }
      return Value::of(TypeKind::kFloat,
                       {cpp_double(e->number.d, headers_),
                        e->number.d < 0 ? Cpp::kSign : Cpp::kPrimary},
                       plan_number(e->number));
    case ExprKind::kBool:
      return Value::of(TypeKind::kBool, {e->number.i ? "true" : "false"},
                       make_plan({PlanKind::kBool, {}, {}, e->number}));
    case ExprKind::kNone:
      return {Value::Kind::kNone, {}, {}, {}, plan_of(PlanKind::kNone, {})};
    case ExprKind::kString:
      return Value::of(TypeKind::kStr, {cpp_string(e->name)},
                       plan_of(PlanKind::kString, {}, e->name));
    case ExprKind::kName: return name(*e);
    case ExprKind::kUnary: return unary(*e);
    case ExprKind::kBinary: return binary(*e);
    case ExprKind::kCall: return call(*e);
    case ExprKind::kMethod:
    case ExprKind::kAttribute: return method(*e);
    case ExprKind::kIf: return branch(*e, {});
    case ExprKind::kLet: return block(e, {});
    case ExprKind::kList: {
      Value v{Value::Kind::kList, {}, {}, {}, {}};
      for (const Expr& c : e->children) v.items.push_back(run(c));
      return v;
    }
    case ExprKind::kComprehension: return comprehension(*e);
    case ExprKind::kIndex: return index(*e);
    case ExprKind::kSlice: {
      const Value list = ints(e->children[0]);
      std::vector<std::string> args = {list.cpp.text, "0", "INT64_MAX"};
      std::vector<Plan> plans = {list.plan, nullptr, nullptr};
      for (std::size_t i = 1; i < 3; ++i) {
        if (e->children[i]->kind == ExprKind::kNone) continue;
        const Value bound = integer(e->children[i]);
        args[i] = bound.cpp.text;
        plans[i] = bound.plan;
      }
      return int_list(built_in("slice", args),
                      plan_of(PlanKind::kSlice, std::move(plans)));
    }
  }
  fail(*e, "unexpected expression");
}

Value TensorCompiler::block(const Expr& e, std::span<const Type> expected) {
  const std::size_t scope = locals_.size();
  std::vector<std::string> statements;
  Lets lets;
  Expr body = e;
  while (body->kind == ExprKind::kLet) {
    define(*body, statements, lets);
    body = body->children[1];
  }
  Value v = coerced(body, expected);
  if (v.kind == Value::Kind::kList || v.kind == Value::Kind::kNone) {
    fail(*body, "expected a value, got {}", describe(v));
  }
  v.cpp = {cpp_block(statements, v.cpp.text)};
  v.plan = bound(std::move(lets), v.plan);
  locals_.resize(scope);
  return v;
}

Value TensorCompiler::coerced(const Expr& e, std::span<const Type> expected) {
  if (expected.empty()) return run(e);
  if (e->kind == ExprKind::kLet) return block(e, expected);
  if (e->kind == ExprKind::kIf) return branch(*e, expected);
  Value v = run(e);
  if (expected.size() == 1) return single(e, std::move(v), expected[0]);
  if (v.kind == Value::Kind::kTuple && v.types.size() == expected.size()) {
    return v;
  }
  if (v.kind != Value::Kind::kList || v.items.size() != expected.size()) {
    fail(*e, "expected a list of {} values, got {}", expected.size(),
         describe(v));
  }
  std::vector<std::string> items;
  std::vector<Plan> plans;
  std::vector<Type> types;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    Value item = single(e->children[i], v.items[i], expected[i]);
    plans.push_back(item.plan);
    items.push_back(item.cpp.text);
    types.push_back(expected[i]);
  }
  std::string tuple = "std::tuple<";
  for (std::size_t i = 0; i < types.size(); ++i) {
    tuple += i ? ", Tensor" : "Tensor";
  }
  // Puts the items in braces, so that they are evaluated in order.
  std::string text = cpp_call(tuple + ">", items);
  text[tuple.size() + 1] = '{';
  text.back() = '}';
  return {Value::Kind::kTuple,
          types,
          {text},
          {},
          plan_of(PlanKind::kTuple, std::move(plans))};
}

Value TensorCompiler::single(const Expr& e, Value v, Type expected) {
  if (expected == TypeKind::kScalarType && v.is_tensor()) {
    return Value::of(expected, {tensor(e, v) + ".scalar_type()"},
                     plan_of(PlanKind::kMetadata, {v.plan}, "scalar_type"));
  }
  const auto converted = convert(v, expected);
  if (!converted) {
    fail(*e, "expected {}, got {}", expected.str(), describe(v));
  }
  if (converted->text != v.cpp.text) v.cpp = {converted->text};
  return Value::of(expected, v.cpp, converted->plan);
}

Value TensorCompiler::ints(const Expr& e) {
  return single(e, run(e), Type::list_of(TypeKind::kInt));
}

std::string TensorCompiler::tensor(const Expr& e, const Value& v) {
  const auto converted = convert(v, TypeKind::kTensor);
  if (!converted) fail(*e, "expected Tensor, got {}", describe(v));
  return converted->text;
}

Value TensorCompiler::int_list(std::string text, Plan plan) {
  return Value::of(Type::list_of(TypeKind::kInt), {std::move(text)},
                   std::move(plan));
}

std::string TensorCompiler::built_in(std::string_view name,
                                     const std::vector<std::string>& args) {
  headers_.emplace("aten/engine/geometry.h");
  return cpp_call(fmt::format("geometry::{}", name), args);
}

Value TensorCompiler::condition(const Expr& e) {
  const Value v = run(e);
  if (v.is_tensor()) {
    fail(*e, "expected bool, got Tensor; elements are chosen by where()");
  }
  return single(e, v, TypeKind::kBool);
}

}  // namespace detail

std::optional<TensorCode> compile_tensor(const Expr& e, const TensorEnv& env,
                                         const OpTable& ops,
                                         std::span<const Type> expected,
                                         Diagnostics& diagnostics) {
  try {
    return detail::TensorCompiler(env, ops, diagnostics).top(e, expected);
  } catch (const detail::TensorFailed&) {
    return std::nullopt;
  }
}

}  // namespace sy::lang
