#include "lang/cpp_names.h"
#include "lang/format.h"
#include "lang/tensor_compiler.h"
#include "lang/tensor_names.h"

namespace sy::lang::detail {

Value TensorCompiler::branch(const ExprNode& e,
                             std::span<const Type> expected) {
  const Value c = condition(e.children[0]);
  Value a = coerced(e.children[1], expected);
  Value b = coerced(e.children[2], expected);
  if (expected.empty()) {
    if (a.kind != b.kind || a.types != b.types ||
        a.kind == Value::Kind::kList) {
      // One of them may become the other's type.
      if (a.kind == Value::Kind::kTyped && convert(b, a.types[0])) {
        b = single(e.children[2], std::move(b), a.types[0]);
      } else if (b.kind == Value::Kind::kTyped) {
        a = single(e.children[1], std::move(a), b.types[0]);
      } else {
        fail(e, "the branches differ: {} and {}", describe(a), describe(b));
      }
    }
  }
  const bool ints = a.kind == Value::Kind::kTyped && a.types[0].is_list() &&
                    a.types[0].element() == TypeKind::kInt;
  const auto text = [&](const Value& v) {
    if (ints) return fmt::format("Dims({})", v.cpp.text);
    if (v.kind == Value::Kind::kTyped && v.types[0] == TypeKind::kScalar) {
      return fmt::format("Scalar({})", v.cpp.text);
    }
    if (v.kind == Value::Kind::kTyped && v.types[0].is_optional()) {
      return fmt::format("std::optional<{}>({})",
                         cpp_type(e, v.types[0].element()), v.cpp.text);
    }
    return v.cpp.in(Cpp::kOr);
  };
  Value out = a;
  out.cpp = {fmt::format("{} ? {} : {}", c.cpp.in(Cpp::kOr), text(a), text(b)),
             Cpp::kTernary};
  out.plan = plan_of(PlanKind::kIf, {c.plan, a.plan, b.plan});
  return out;
}

std::string TensorCompiler::cpp_type(const ExprNode& e, Type t) {
  switch (t.kind()) {
    case TypeKind::kTensor: return "Tensor";
    case TypeKind::kScalar: return "Scalar";
    case TypeKind::kInt:
    case TypeKind::kSymInt: return "int64_t";
    case TypeKind::kFloat: return "double";
    case TypeKind::kBool: return "bool";
    case TypeKind::kScalarType: return "ScalarType";
    default: fail(e, "expected a plain value in a branch");
  }
}

Value TensorCompiler::comprehension(const ExprNode& e) {
  Value source = run(e.children[1]);
  if (source.kind == Value::Kind::kList) {
    source = single(e.children[1], source, Type::list_of(TypeKind::kInt));
  }
  if (source.kind != Value::Kind::kTyped || !source.types[0].is_list()) {
    fail(*e.children[1], "expected a list after 'in', got {}",
         describe(source));
  }
  if (env_.find(e.name)) fail(e, "'{}' is already defined", e.name);
  const Type item = source.types[0].element();
  const std::string parameter =
      fmt::format("{} {}", loop_type(item), cpp_name(e.name));
  if (parameter[0] == ' ') {
    fail(*e.children[1], "nothing can be made of each of {}", describe(source));
  }
  locals_.emplace_back(e.name,
                       Value::of(item, {cpp_name(e.name)}, plan_name(e.name)));
  Value body = run(e.children[0]);
  std::string test;
  PlanNode node{PlanKind::kComprehension, e.name, {body.plan, source.plan}};
  if (e.children.size() > 2) {
    const Value c = condition(e.children[2]);
    test = c.cpp.text;
    node.children.push_back(c.plan);
  }
  locals_.pop_back();
  node.type = body.is_tensor() ? TypeKind::kTensor : TypeKind::kInt;
  if (body.is_tensor()) {
    const std::string out = fresh_name("out", names_);
    const bool used =
        mentions(e.children[0], e.name) ||
        (e.children.size() > 2 && mentions(e.children[2], e.name));
    std::string loop = fmt::format(
        "std::vector<Tensor> {}; for ({}{} : {}) {{ ", out,
        used ? "" : "[[maybe_unused]] ", parameter, source.cpp.text);
    if (!test.empty()) append(loop, "if ({}) ", test);
    append(loop, "{}.push_back({}); }}", out, body.cpp.text);
    return Value::of(Type::list_of(TypeKind::kTensor), {cpp_block({loop}, out)},
                     make_plan(std::move(node)));
  }
  if (item != TypeKind::kTensor && item != TypeKind::kInt &&
      item != TypeKind::kSymInt) {
    fail(*e.children[0], "expected Tensor of each of {}, got {}",
         describe(source), describe(body));
  }
  const std::string item_text =
      single(e.children[0], body, TypeKind::kInt).cpp.text;
  std::vector<std::string> args = {source.cpp.text};
  const auto lambda = [&](const std::string& text) {
    return fmt::format("[&]({}) {{ return {}; }}", parameter, text);
  };
  if (!test.empty()) args.push_back(lambda(test));
  args.push_back(lambda(item_text));
  // A list of tensors may be longer than there are dims.
  return int_list(built_in(test.empty() ? "each" : "each_if", args),
                  make_plan(std::move(node)));
}

std::size_t TensorCompiler::literal(const Expr& i, std::size_t n) {
  const auto k = static_cast<std::size_t>(i->number.i);
  if (!is_number(i) || !i->number.is_int || i->number.i < 0 || k >= n) {
    fail(*i, "expected a literal from 0 to {}", n - 1);
  }
  return k;
}

Value TensorCompiler::gradient(const ExprNode& e) {
  const std::size_t k = literal(e.children[1], env_.results);
  const std::string arguments = fmt::format("({})", k);
  Value v = Value::of(TypeKind::kTensor, {"grads.grad_or_zeros" + arguments},
                      plan_name(gradient_name(k)));
  v.optional_cpp = "grads.grad_if_any" + arguments;
  v.optional_plan = plan_name(gradient_name(k) + "?");
  return v;
}

Value TensorCompiler::index(const ExprNode& e) {
  if (env_.results > 0 && is_name(e.children[0], "grads") &&
      find_local("grads") == nullptr) {
    return gradient(e);
  }
  Value source = run(e.children[0]);
  if (source.kind == Value::Kind::kTuple) {
    const std::size_t k = literal(e.children[1], source.types.size());
    return Value::of(
        source.types[k], {fmt::format("std::get<{}>({})", k, source.cpp.text)},
        make_plan(
            {PlanKind::kResult, {}, {source.plan}, e.children[1]->number}));
  }
  if (source.is_tensor()) {
    const Value i = run(e.children[1]);
    const Value zero = Value::of(TypeKind::kInt, {"0"},
                                 plan_number(Number::of(std::int64_t{0})));
    return apply(e, "select", {{"", source}, {"", zero}, {"", i}});
  }
  if (source.kind == Value::Kind::kList) {
    source = single(e.children[0], source, Type::list_of(TypeKind::kInt));
  }
  if (source.kind != Value::Kind::kTyped || !source.types[0].is_list()) {
    fail(e, "expected a list before '[', got {}", describe(source));
  }
  const bool tensors = source.types[0].element() == TypeKind::kTensor;
  const std::string list = tensors
                               ? fmt::format("TensorList({})", source.cpp.text)
                               : source.cpp.text;
  const Value i = integer(e.children[1]);
  return Value::of(source.types[0].element(),
                   {built_in("at", {op_, list, i.cpp.text})},
                   plan_of(PlanKind::kAt, {source.plan, i.plan}));
}

}  // namespace sy::lang::detail
