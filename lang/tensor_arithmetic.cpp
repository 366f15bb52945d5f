#include "lang/format.h"
#include "lang/tensor_compiler.h"
#include "lang/tensor_names.h"

namespace sy::lang::detail {

Cpp TensorCompiler::number(const Value& v) {
  if (v.is(TypeKind::kScalar)) {
    return {v.cpp.in(Cpp::kPrimary) + ".to_double()"};
  }
  return v.cpp;
}

Plan TensorCompiler::number_plan(const Value& v) {
  return v.is(TypeKind::kScalar) ? plan_double(v.plan) : v.plan;
}

Value TensorCompiler::unary(const ExprNode& e) {
  const Value v = run(e.children[0]);
  if (v.is_tensor()) return apply(e, operator_name(e.op), {{"", v}});
  if (e.op == Op::kNot) {
    const Cpp c = single(e.children[0], v, TypeKind::kBool).cpp;
    return Value::of(TypeKind::kBool, {"!" + c.in(Cpp::kPrimary), Cpp::kSign},
                     plan_of(PlanKind::kNot, {v.plan}));
  }
  if (!v.is_number()) fail(e, "'-' of {}", describe(v));
  // Scalar has a minus of its own, which keeps it an integer.
  return Value::of(v.types[0], {"-" + v.cpp.in(Cpp::kPrimary), Cpp::kSign},
                   plan_of(PlanKind::kNegate, {v.plan}));
}

std::optional<Value> TensorCompiler::question(const ExprNode& e) {
  for (int i = 0; i < 2; ++i) {
    if (e.children[i]->kind != ExprKind::kNone) continue;
    const Value v = run(e.children[1 - i]);
    if (v.kind != Value::Kind::kTyped || !v.types[0].is_optional()) {
      fail(*e.children[1 - i], "expected an optional value beside None, got {}",
           describe(v));
    }
    const Cpp has = cpp_has_value(v.cpp.in(Cpp::kPrimary),
                                  v.types[0].element() == TypeKind::kTensor);
    const Plan plan = plan_of(PlanKind::kHasValue, {v.plan});
    if (e.op == Op::kNe) return Value::of(TypeKind::kBool, has, plan);
    if (e.op != Op::kEq) fail(e, "expected '==' or '!=' beside None");
    return Value::of(TypeKind::kBool, {"!" + has.in(Cpp::kPrimary), Cpp::kSign},
                     plan_of(PlanKind::kNot, {plan}));
  }
  return std::nullopt;
}

Value TensorCompiler::binary(const ExprNode& e) {
  if (auto q = question(e)) return *q;
  const Value a = run(e.children[0]);
  const Value b = run(e.children[1]);
  if (a.is_tensor() || b.is_tensor()) return tensor_binary(e, a, b);
  if (e.op == Op::kAnd || e.op == Op::kOr) {
    const Value x = single(e.children[0], a, TypeKind::kBool);
    const Value y = single(e.children[1], b, TypeKind::kBool);
    const bool is_and = e.op == Op::kAnd;
    return Value::of(TypeKind::kBool,
                     cpp_binary(is_and ? "&&" : "||",
                                is_and ? Cpp::kAnd : Cpp::kOr, x.cpp, y.cpp),
                     plan_binary(e.op, x.plan, y.plan));
  }
  if (e.op == Op::kAdd && is_list(a) && is_list(b)) {
    const Value x = ints(e.children[0]);
    const Value y = ints(e.children[1]);
    return int_list(built_in("concat", {x.cpp.text, y.cpp.text}),
                    plan_of(PlanKind::kConcat, {x.plan, y.plan}));
  }
  if (is_comparison(e.op)) return comparison(e, a, b);
  return arithmetic(e, a, b);
}

bool TensorCompiler::is_list(const Value& v) {
  return v.kind == Value::Kind::kList ||
         (v.kind == Value::Kind::kTyped && v.types[0].is_list());
}

Value TensorCompiler::tensor_binary(const ExprNode& e, const Value& a,
                                    const Value& b) {
  if (e.op == Op::kAnd || e.op == Op::kOr) {
    return apply(e, operator_name(e.op),
                 {{"", truth_tensor(e, a)}, {"", truth_tensor(e, b)}});
  }
  if (a.is_tensor() || e.op == Op::kPow) {
    return apply(e, operator_name(e.op), {{"", a}, {"", b}});
  }
  switch (e.op) {
    case Op::kSub:
      if (!ops_.lookup("rsub").empty()) {
        return apply(e, "rsub", {{"", b}, {"", a}});
      }
      return apply(e, "add", {{"", apply(e, "neg", {{"", b}})}, {"", a}});
    case Op::kDiv: {
      const Value r = apply(e, "reciprocal", {{"", b}});
      if (is_number(e.children[0], 1)) return r;
      return apply(e, "mul", {{"", r}, {"", a}});
    }
    case Op::kLt: return apply(e, "gt", {{"", b}, {"", a}});
    case Op::kLe: return apply(e, "ge", {{"", b}, {"", a}});
    case Op::kGt: return apply(e, "lt", {{"", b}, {"", a}});
    case Op::kGe: return apply(e, "le", {{"", b}, {"", a}});
    case Op::kFloorDiv:
    case Op::kMod: return apply(e, operator_name(e.op), {{"", a}, {"", b}});
    default: return apply(e, operator_name(e.op), {{"", b}, {"", a}});
  }
}

Value TensorCompiler::truth_tensor(const ExprNode& e, const Value& v) {
  return v.is_tensor() ? v : apply(e, "scalar_tensor", {{"", v}});
}

Value TensorCompiler::comparison(const ExprNode& e, const Value& a,
                                 const Value& b) {
  const bool equality = e.op == Op::kEq || e.op == Op::kNe;
  const auto present = [](const Value& v) {
    return v.kind == Value::Kind::kTyped && v.types[0].is_optional()
               ? Value::of(v.types[0].element(),
                           {fmt::format("(*{})", v.cpp.in(Cpp::kPrimary))},
                           v.plan)
               : v;
  };
  const Value x = present(a);
  const Value y = present(b);
  Cpp left = number(x);
  Cpp right = number(y);
  Plan plan = plan_binary(e.op, number_plan(x), number_plan(y));
  if (!x.is_number() || !y.is_number()) {
    const bool lists = is_list(x) && is_list(y);
    const bool same = x.kind == Value::Kind::kTyped &&
                      y.kind == Value::Kind::kTyped && x.types[0] == y.types[0];
    if (!equality || (!lists && !same)) {
      fail(e, "'{}' cannot compare {} and {}", to_string(e.op), describe(a),
           describe(b));
    }
    if (lists) {
      const Value l = ints(e.children[0]);
      const Value m = ints(e.children[1]);
      left = {fmt::format("IntArrayRef({})", l.cpp.text)};
      right = {fmt::format("IntArrayRef({})", m.cpp.text)};
      plan = plan_binary(e.op, l.plan, m.plan);
    }
  }
  return Value::of(TypeKind::kBool,
                   cpp_binary(to_string(e.op), Cpp::kCompare, left, right),
                   std::move(plan));
}

Value TensorCompiler::arithmetic(const ExprNode& e, const Value& a,
                                 const Value& b) {
  if (!a.is_number() || !b.is_number()) {
    fail(e, "'{}' cannot combine {} and {}", to_string(e.op), describe(a),
         describe(b));
  }
  const bool whole = a.is(TypeKind::kInt) && b.is(TypeKind::kInt);
  const Type type = whole ? TypeKind::kInt : TypeKind::kFloat;
  const Cpp x = number(a);
  const Cpp y = number(b);
  const Plan plan = plan_binary(e.op, number_plan(a), number_plan(b));
  switch (e.op) {
    case Op::kAdd:
      return Value::of(type, cpp_binary("+", Cpp::kSum, x, y), plan);
    case Op::kSub:
      return Value::of(type, cpp_binary("-", Cpp::kSum, x, y), plan);
    case Op::kMul:
      return Value::of(type, cpp_binary("*", Cpp::kProduct, x, y), plan);
    case Op::kDiv: {
      Cpp left = x;
      if (whole) left = {fmt::format("static_cast<double>({})", x.text)};
      return Value::of(TypeKind::kFloat,
                       cpp_binary("/", Cpp::kProduct, left, y), plan);
    }
    case Op::kPow:
      headers_.insert("<cmath>");
      return Value::of(TypeKind::kFloat,
                       {cpp_call("std::pow", {x.text, y.text})}, plan);
    default: break;
  }
  if (!whole) {
    fail(e, "'{}' needs two ints", to_string(e.op));
  }
  return Value::of(
      TypeKind::kInt,
      {built_in(e.op == Op::kMod ? "mod" : "floor_div", {op_, x.text, y.text})},
      plan);
}

}  // namespace sy::lang::detail
