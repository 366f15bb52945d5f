#include "codegen/lang/tensor.h"

#include <algorithm>
#include <set>
#include <utility>

#include "codegen/lang/cpp_names.h"
#include "codegen/lang/index.h"
#include "codegen/lang/tensor_names.h"
#include "codegen/lang/tensor_value.h"

namespace sy::lang {
namespace {

using detail::CallArgument;
using detail::describe;
using detail::kMetadata;
using detail::kNumberFunctions;
using detail::Metadata;
using detail::operator_name;
using detail::Value;

struct Failed {};

class Compiler {
 public:
  Compiler(const TensorEnv& env, const OpTable& ops, Diagnostics& diagnostics)
      : env_(env),
        ops_(ops),
        op_(cpp_string(env.op)),
        diagnostics_(diagnostics) {}

  TensorCode top(Expr e, std::span<const Type> expected) {
    TensorCode code;
    Lets lets;
    for (const TensorName& n : env_.names) names_.insert(cpp_name(n.name));
    add_bound_names(e, names_);
    while (e->kind == NodeKind::kLet) {
      define(*e, code.statements, lets);
      e = e->children[1];
    }
    const Value v = coerced(e, expected);
    code.value = v.cpp.text;
    code.types = v.types;
    code.plan = bound(std::move(lets), v.plan);
    code.operators.assign(called_.begin(), called_.end());
    return code;
  }

 private:
  [[noreturn]] void fail(const Node& e, std::string message) {
    diagnostics_.error(e.at, std::move(message));
    throw Failed{};
  }

  // ---- names

  using Lets = std::vector<std::pair<std::string, Plan>>;
  static Plan bound(Lets lets, Plan body) {
    for (; !lets.empty(); lets.pop_back()) {
      body = plan_of(PlanKind::kLet, {lets.back().second, std::move(body)},
                     lets.back().first);
    }
    return body;
  }

  void define(const Node& e, std::vector<std::string>& statements, Lets& lets) {
    Value v = run(e.children[0]);
    const std::string name = cpp_name(e.name);
    const auto in_env = [&](const TensorName& n) {
      return cpp_name(n.name) == name;
    };
    if (std::any_of(env_.names.begin(), env_.names.end(), in_env) ||
        std::any_of(locals_.begin(), locals_.end(), [&](const auto& local) {
          return cpp_name(local.first) == name;
        })) {
      fail(e, "'" + e.name + "' is already defined");
    }
    if (v.kind == Value::Kind::kNone) fail(e, "None has no type of its own");
    if (v.kind == Value::Kind::kList) {
      // A literal would not outlive the statement.
      const Type ints = Type::list_of(TypeKind::kInt);
      const auto list = detail::convert(v, ints);
      if (!list) fail(e, "only lists of ints can be named by 'let'");
      v = Value::of(ints, {"Dims(" + list->text + ")"}, list->plan);
    }
    const bool plain = e.children[0]->kind == NodeKind::kName;
    statements.push_back((plain ? "const auto& " : "const auto ") + name +
                         " = " + v.cpp.text + ";");
    v.cpp = {name};
    v.optional_plan = nullptr;
    lets.emplace_back(e.name, std::exchange(v.plan, plan_name(e.name)));
    locals_.emplace_back(e.name, std::move(v));
  }

  const Value* find_local(std::string_view name) const {
    for (auto it = locals_.rbegin(); it != locals_.rend(); ++it) {
      if (it->first == name) return &it->second;
    }
    return nullptr;
  }

  Value name(const Node& e) {
    if (const Value* local = find_local(e.name)) return *local;
    if (env_.results > 0 && e.name == "grads") {
      fail(e, "the results have gradients of their own: expected grads[0] to " +
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
    fail(e, "unknown name '" + e.name + "'" + suggest(e.name, names));
  }

  // ---- expressions

  Value run(const Expr& e) {
    switch (e->kind) {
      case NodeKind::kNumber:
        if (e->number.is_int) {
          const bool minus = e->number.i < 0;
          return Value::of(
              TypeKind::kInt,
              {cpp_int(e->number.i), minus ? Cpp::kSign : Cpp::kPrimary},
              plan_number(e->number));
        }
        return Value::of(TypeKind::kFloat,
                         {cpp_double(e->number.d),
                          e->number.d < 0 ? Cpp::kSign : Cpp::kPrimary},
                         plan_number(e->number));
      case NodeKind::kBool:
        return Value::of(TypeKind::kBool, {e->number.i ? "true" : "false"},
                         make_plan({PlanKind::kBool, {}, {}, e->number}));
      case NodeKind::kNone:
        return {Value::Kind::kNone, {}, {}, {}, plan_of(PlanKind::kNone, {})};
      case NodeKind::kString:
        return Value::of(TypeKind::kStr, {cpp_string(e->name)},
                         plan_of(PlanKind::kString, {}, e->name));
      case NodeKind::kName: return name(*e);
      case NodeKind::kUnary: return unary(*e);
      case NodeKind::kBinary: return binary(*e);
      case NodeKind::kCall: return call(*e);
      case NodeKind::kMethod:
      case NodeKind::kAttribute: return method(*e);
      case NodeKind::kIf: return branch(*e, {});
      case NodeKind::kLet: return block(e, {});
      case NodeKind::kList: {
        Value v{Value::Kind::kList, {}, {}, {}, {}};
        for (const Expr& c : e->children) v.items.push_back(run(c));
        return v;
      }
      case NodeKind::kComprehension: return comprehension(*e);
      case NodeKind::kIndex: return index(*e);
      case NodeKind::kSlice: {
        const Value list = ints(e->children[0]);
        std::vector<std::string> args = {list.cpp.text, "0", "INT64_MAX"};
        std::vector<Plan> plans = {list.plan, nullptr, nullptr};
        for (std::size_t i = 1; i < 3; ++i) {
          if (e->children[i]->kind == NodeKind::kNone) continue;
          const Value bound = integer(e->children[i]);
          args[i] = bound.cpp.text;
          plans[i] = bound.plan;
        }
        return int_list(cpp_call("shapes::slice", args),
                        plan_of(PlanKind::kSlice, std::move(plans)));
      }
    }
    fail(*e, "unexpected expression");
  }

  // A let that is not at the top.
  Value block(const Expr& e, std::span<const Type> expected) {
    const std::size_t scope = locals_.size();
    std::vector<std::string> statements;
    Lets lets;
    Expr body = e;
    while (body->kind == NodeKind::kLet) {
      define(*body, statements, lets);
      body = body->children[1];
    }
    Value v = coerced(body, expected);
    if (v.kind == Value::Kind::kList || v.kind == Value::Kind::kNone) {
      fail(*body, "expected a value, got " + describe(v));
    }
    v.cpp = {cpp_block(statements, v.cpp.text)};
    v.plan = bound(std::move(lets), v.plan);
    locals_.resize(scope);
    return v;
  }

  // The value as the expected types; as it is if there are none.
  Value coerced(const Expr& e, std::span<const Type> expected) {
    if (expected.empty()) return run(e);
    if (e->kind == NodeKind::kLet) return block(e, expected);
    if (e->kind == NodeKind::kIf) return branch(*e, expected);
    Value v = run(e);
    if (expected.size() == 1) return single(e, std::move(v), expected[0]);
    if (v.kind == Value::Kind::kTuple && v.types.size() == expected.size()) {
      return v;
    }
    if (v.kind != Value::Kind::kList || v.items.size() != expected.size()) {
      fail(*e, "expected a list of " + std::to_string(expected.size()) +
                   " values, got " + describe(v));
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
    // In braces, so that the items are evaluated in order.
    std::string text = cpp_call(tuple + ">", items);
    text[tuple.size() + 1] = '{';
    text.back() = '}';
    return {Value::Kind::kTuple,
            types,
            {text},
            {},
            plan_of(PlanKind::kTuple, std::move(plans))};
  }

  Value single(const Expr& e, Value v, Type expected) {
    if (expected == TypeKind::kScalarType && v.is_tensor()) {
      return Value::of(expected, {tensor(e, v) + ".scalar_type()"},
                       plan_of(PlanKind::kMetadata, {v.plan}, "scalar_type"));
    }
    const auto converted = detail::convert(v, expected);
    if (!converted) {
      fail(*e,
           "expected " + std::string(expected.str()) + ", got " + describe(v));
    }
    if (converted->text != v.cpp.text) v.cpp = {converted->text};
    return Value::of(expected, v.cpp, converted->plan);
  }

  Value integer(const Expr& e) { return single(e, run(e), TypeKind::kInt); }
  Value ints(const Expr& e) {
    return single(e, run(e), Type::list_of(TypeKind::kInt));
  }
  // A Tensor; an optional one is taken to be there.
  std::string tensor(const Expr& e, const Value& v) {
    const auto converted = detail::convert(v, TypeKind::kTensor);
    if (!converted) fail(*e, "expected Tensor, got " + describe(v));
    return converted->text;
  }
  static Value int_list(std::string text, Plan plan) {
    return Value::of(Type::list_of(TypeKind::kInt), {std::move(text)},
                     std::move(plan));
  }

  Value condition(const Expr& e) {
    const Value v = run(e);
    if (v.is_tensor()) {
      fail(*e, "expected bool, got Tensor; elements are chosen by where()");
    }
    return single(e, v, TypeKind::kBool);
  }

  // Numbers as C++ computes with them.
  static Cpp number(const Value& v) {
    if (v.is(TypeKind::kScalar)) {
      return {v.cpp.in(Cpp::kPrimary) + ".to_double()"};
    }
    return v.cpp;
  }
  static Plan number_plan(const Value& v) {
    return v.is(TypeKind::kScalar) ? plan_double(v.plan) : v.plan;
  }
  static Plan binary_plan(Op op, Plan a, Plan b) {
    PlanNode node{PlanKind::kBinary, {}, {std::move(a), std::move(b)}};
    node.op = op;
    return make_plan(std::move(node));
  }

  Value unary(const Node& e) {
    const Value v = run(e.children[0]);
    if (v.is_tensor()) return apply(e, operator_name(e.op), {{"", v}});
    if (e.op == Op::kNot) {
      const Cpp c = single(e.children[0], v, TypeKind::kBool).cpp;
      return Value::of(TypeKind::kBool, {"!" + c.in(Cpp::kPrimary), Cpp::kSign},
                       plan_of(PlanKind::kNot, {v.plan}));
    }
    if (!v.is_number()) fail(e, "'-' of " + describe(v));
    // Scalar has a minus of its own, which keeps it an integer.
    return Value::of(v.types[0], {"-" + v.cpp.in(Cpp::kPrimary), Cpp::kSign},
                     plan_of(PlanKind::kNegate, {v.plan}));
  }

  std::optional<Value> question(const Node& e) {
    for (int i = 0; i < 2; ++i) {
      if (e.children[i]->kind != NodeKind::kNone) continue;
      const Value v = run(e.children[1 - i]);
      if (v.kind != Value::Kind::kTyped || !v.types[0].is_optional()) {
        fail(*e.children[1 - i],
             "expected an optional value beside None, got " + describe(v));
      }
      const std::string has = v.cpp.in(Cpp::kPrimary) + ".has_value()";
      const Plan plan = plan_of(PlanKind::kHasValue, {v.plan});
      if (e.op == Op::kNe) return Value::of(TypeKind::kBool, {has}, plan);
      if (e.op != Op::kEq) fail(e, "expected '==' or '!=' beside None");
      return Value::of(TypeKind::kBool, {"!" + has, Cpp::kSign},
                       plan_of(PlanKind::kNot, {plan}));
    }
    return std::nullopt;
  }

  Value binary(const Node& e) {
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
                       binary_plan(e.op, x.plan, y.plan));
    }
    if (e.op == Op::kAdd && is_list(a) && is_list(b)) {
      const Value x = ints(e.children[0]);
      const Value y = ints(e.children[1]);
      return int_list(cpp_call("shapes::concat", {x.cpp.text, y.cpp.text}),
                      plan_of(PlanKind::kConcat, {x.plan, y.plan}));
    }
    if (is_comparison(e.op)) return comparison(e, a, b);
    return arithmetic(e, a, b);
  }

  static bool is_list(const Value& v) {
    return v.kind == Value::Kind::kList ||
           (v.kind == Value::Kind::kTyped && v.types[0].is_list());
  }

  // Numbers to the right where the operator has no overload for the left.
  Value tensor_binary(const Node& e, const Value& a, const Value& b) {
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
        if (a.cpp.text == "1") return r;
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

  // The logical operators take no numbers.
  Value truth_tensor(const Node& e, const Value& v) {
    return v.is_tensor() ? v : apply(e, "scalar_tensor", {{"", v}});
  }

  Value comparison(const Node& e, const Value& a, const Value& b) {
    const bool equality = e.op == Op::kEq || e.op == Op::kNe;
    const auto present = [](const Value& v) {
      return v.kind == Value::Kind::kTyped && v.types[0].is_optional()
                 ? Value::of(v.types[0].element(),
                             {"(*" + v.cpp.in(Cpp::kPrimary) + ")"}, v.plan)
                 : v;
    };
    const Value x = present(a);
    const Value y = present(b);
    Cpp left = number(x);
    Cpp right = number(y);
    Plan plan = binary_plan(e.op, number_plan(x), number_plan(y));
    if (!x.is_number() || !y.is_number()) {
      const bool lists = is_list(x) && is_list(y);
      const bool same = x.kind == Value::Kind::kTyped &&
                        y.kind == Value::Kind::kTyped &&
                        x.types[0] == y.types[0];
      if (!equality || (!lists && !same)) {
        fail(e, "'" + std::string(to_string(e.op)) + "' cannot compare " +
                    describe(a) + " and " + describe(b));
      }
      if (lists) {
        const Value l = ints(e.children[0]);
        const Value m = ints(e.children[1]);
        left = {"IntArrayRef(" + l.cpp.text + ")"};
        right = {"IntArrayRef(" + m.cpp.text + ")"};
        plan = binary_plan(e.op, l.plan, m.plan);
      }
    }
    return Value::of(TypeKind::kBool,
                     cpp_binary(to_string(e.op), Cpp::kCompare, left, right),
                     std::move(plan));
  }

  Value arithmetic(const Node& e, const Value& a, const Value& b) {
    if (!a.is_number() || !b.is_number()) {
      fail(e, "'" + std::string(to_string(e.op)) + "' cannot combine " +
                  describe(a) + " and " + describe(b));
    }
    const bool whole = a.is(TypeKind::kInt) && b.is(TypeKind::kInt);
    const Type type = whole ? TypeKind::kInt : TypeKind::kFloat;
    const Cpp x = number(a);
    const Cpp y = number(b);
    const Plan plan = binary_plan(e.op, number_plan(a), number_plan(b));
    switch (e.op) {
      case Op::kAdd:
        return Value::of(type, cpp_binary("+", Cpp::kSum, x, y), plan);
      case Op::kSub:
        return Value::of(type, cpp_binary("-", Cpp::kSum, x, y), plan);
      case Op::kMul:
        return Value::of(type, cpp_binary("*", Cpp::kProduct, x, y), plan);
      case Op::kDiv: {
        Cpp left = x;
        if (whole) left = {"static_cast<double>(" + x.text + ")"};
        return Value::of(TypeKind::kFloat,
                         cpp_binary("/", Cpp::kProduct, left, y), plan);
      }
      case Op::kPow:
        return Value::of(TypeKind::kFloat,
                         {cpp_call("std::pow", {x.text, y.text})}, plan);
      default: break;
    }
    if (!whole) {
      fail(e, "'" + std::string(to_string(e.op)) + "' needs two ints");
    }
    return Value::of(
        TypeKind::kInt,
        {cpp_call(e.op == Op::kMod ? "shapes::mod" : "shapes::floor_div",
                  {op_, x.text, y.text})},
        plan);
  }

  // ---- calls

  Value call(const Node& e) {
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
      if (overloads.empty() ||
          !detail::resolve(e.name, overloads, args).resolved) {
        if (auto v = index_call(e, args)) return *v;
      }
    }
    return apply(e, e.name, args);
  }

  std::optional<Value> number_call(const Node& e,
                                   const std::vector<CallArgument>& args) {
    const bool known =
        std::find(std::begin(kNumberFunctions), std::end(kNumberFunctions),
                  e.name) != std::end(kNumberFunctions);
    if (!known || args.size() != 1 || !args[0].value.is_number()) {
      return std::nullopt;
    }
    return Value::of(
        TypeKind::kFloat,
        {cpp_call("std::" + e.name, {number(args[0].value).text})},
        plan_of(PlanKind::kFunction, {number_plan(args[0].value)}, e.name));
  }

  // The functions of the index typing, on ints and lists of them.
  std::optional<Value> index_call(const Node& e,
                                  const std::vector<CallArgument>& args) {
    for (const IndexFunction& f : index_functions()) {
      if (f.name != e.name || f.parameters.size() != args.size()) continue;
      std::vector<std::string> text;
      std::vector<Plan> plans;
      if (f.op) text.push_back(op_);
      for (std::size_t i = 0; i < args.size(); ++i) {
        const auto c = detail::convert(args[i].value, letter(f.parameters[i]));
        if (!c) break;
        text.push_back(c->text);
        plans.push_back(c->plan);
      }
      if (text.size() != args.size() + f.op) continue;
      std::string function = "shapes::" + e.name;
      if (f.parameters == "ii" && (f.name == "min" || f.name == "max")) {
        function = "std::" + e.name + "<int64_t>";
      }
      return Value::of(
          letter(f.result), {cpp_call(function, text)},
          plan_of(PlanKind::kIndexFunction, std::move(plans), e.name));
    }
    return std::nullopt;
  }

  static Type letter(char c) {
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

  Value apply(const Node& e, std::string_view name,
              const std::vector<CallArgument>& args) {
    const auto overloads = ops_.lookup(name);
    if (overloads.empty()) {
      const auto names = ops_.names();
      fail(e, "unknown operator '" + std::string(name) + "'" +
                  suggest(name, names));
    }
    auto [resolved, error] = detail::resolve(name, overloads, args);
    if (!resolved) fail(e, std::move(error));
    const FunctionSchema& schema = *resolved->schema;
    std::string full(schema.name().name);
    if (!schema.name().overload.empty()) {
      full += '.' + std::string(schema.name().overload);
    }
    called_.insert(std::move(full));
    Value v = Value::of(
        TypeKind::kTensor,
        {cpp_call(ops_.cpp_namespace(schema) + "::" + std::string(name),
                  {resolved->text})},
        resolved->plan);
    v.types.clear();
    for (const Return& r : schema.returns()) v.types.push_back(r.type);
    if (v.types.empty()) fail(e, "'" + std::string(name) + "' returns nothing");
    if (v.types.size() > 1) v.kind = Value::Kind::kTuple;
    return v;
  }

  Value method(const Node& e) {
    const Value self = run(e.children[0]);
    const auto* m = std::find_if(
        std::begin(kMetadata), std::end(kMetadata),
        [&](const Metadata& known) { return known.name == e.name; });
    if (m == std::end(kMetadata)) {
      if (e.kind == NodeKind::kAttribute) {
        fail(e, "'." + e.name +
                    "' has no arguments; an operator is called: '." + e.name +
                    "()'");
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
      fail(e, "'" + e.name + "' expects " +
                  (m->takes_dim ? "1 argument" : "no arguments") + ", got " +
                  std::to_string(given));
    }
    std::vector<std::string> args;
    std::vector<Plan> plans = {self.plan};
    if (m->takes_dim) {
      const Value dim = integer(e.children[1]);
      args.push_back(dim.cpp.text);
      plans.push_back(dim.plan);
    }
    Cpp text{cpp_call(tensor(e.children[0], self) + "." + e.name, args)};
    if (m->type.empty()) {
      return {Value::Kind::kOptions, {}, std::move(text), {}, self.plan};
    }
    return Value::of(detail::named(m->type), std::move(text),
                     plan_of(PlanKind::kMetadata, std::move(plans), e.name));
  }

  // ---- if, lists

  Value branch(const Node& e, std::span<const Type> expected) {
    const Value c = condition(e.children[0]);
    Value a = coerced(e.children[1], expected);
    Value b = coerced(e.children[2], expected);
    if (expected.empty()) {
      if (a.kind != b.kind || a.types != b.types ||
          a.kind == Value::Kind::kList) {
        // One of them may become the other's type.
        if (a.kind == Value::Kind::kTyped && detail::convert(b, a.types[0])) {
          b = single(e.children[2], std::move(b), a.types[0]);
        } else if (b.kind == Value::Kind::kTyped) {
          a = single(e.children[1], std::move(a), b.types[0]);
        } else {
          fail(e,
               "the branches differ: " + describe(a) + " and " + describe(b));
        }
      }
    }
    const bool ints = a.kind == Value::Kind::kTyped && a.types[0].is_list() &&
                      a.types[0].element() == TypeKind::kInt;
    const auto text = [&](const Value& v) {
      if (ints) return "Dims(" + v.cpp.text + ")";
      if (v.kind == Value::Kind::kTyped && v.types[0] == TypeKind::kScalar) {
        return "Scalar(" + v.cpp.text + ")";
      }
      if (v.kind == Value::Kind::kTyped && v.types[0].is_optional()) {
        return "std::optional<" + cpp_type(e, v.types[0].element()) + ">(" +
               v.cpp.text + ")";
      }
      return v.cpp.in(Cpp::kOr);
    };
    Value out = a;
    out.cpp = {c.cpp.in(Cpp::kOr) + " ? " + text(a) + " : " + text(b),
               Cpp::kTernary};
    out.plan = plan_of(PlanKind::kIf, {c.plan, a.plan, b.plan});
    return out;
  }

  std::string cpp_type(const Node& e, Type t) {
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

  Value comprehension(const Node& e) {
    Value source = run(e.children[1]);
    if (source.kind == Value::Kind::kList) {
      source = single(e.children[1], source, Type::list_of(TypeKind::kInt));
    }
    if (source.kind != Value::Kind::kTyped || !source.types[0].is_list()) {
      fail(*e.children[1],
           "expected a list after 'in', got " + describe(source));
    }
    if (env_.find(e.name)) fail(e, "'" + e.name + "' is already defined");
    const Type item = source.types[0].element();
    const std::string parameter =
        detail::loop_type(item) + ' ' + cpp_name(e.name);
    if (parameter[0] == ' ') {
      fail(*e.children[1],
           "nothing can be made of each of " + describe(source));
    }
    locals_.emplace_back(
        e.name, Value::of(item, {cpp_name(e.name)}, plan_name(e.name)));
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
      std::string loop = "std::vector<Tensor> " + out + "; for (" +
                         (used ? "" : "[[maybe_unused]] ") + parameter + " : " +
                         source.cpp.text + ") { ";
      if (!test.empty()) loop += "if (" + test + ") ";
      loop += out + ".push_back(" + body.cpp.text + "); }";
      return Value::of(Type::list_of(TypeKind::kTensor),
                       {cpp_block({loop}, out)}, make_plan(std::move(node)));
    }
    if (item != TypeKind::kTensor && item != TypeKind::kInt &&
        item != TypeKind::kSymInt) {
      fail(*e.children[0], "expected Tensor of each of " + describe(source) +
                               ", got " + describe(body));
    }
    const std::string item_text =
        single(e.children[0], body, TypeKind::kInt).cpp.text;
    std::vector<std::string> args = {source.cpp.text};
    const auto lambda = [&](const std::string& text) {
      return "[&](" + parameter + ") { return " + text + "; }";
    };
    if (!test.empty()) args.push_back(lambda(test));
    args.push_back(lambda(item_text));
    return int_list(
        cpp_call(test.empty() ? "shapes::map" : "shapes::map_if", args),
        make_plan(std::move(node)));
  }

  // A literal index of one of n.
  std::size_t literal(const Expr& i, std::size_t n) {
    const auto k = static_cast<std::size_t>(i->number.i);
    if (!is_number(i) || !i->number.is_int || i->number.i < 0 || k >= n) {
      fail(*i, "expected a literal from 0 to " + std::to_string(n - 1));
    }
    return k;
  }

  // Of one of several results.
  Value gradient(const Node& e) {
    const std::size_t k = literal(e.children[1], env_.results);
    const std::string arguments = "(" + std::to_string(k) + ")";
    Value v = Value::of(TypeKind::kTensor, {"grads.grad_or_zeros" + arguments},
                        plan_name(gradient_name(k)));
    v.optional_cpp = "grads.grad_if_any" + arguments;
    v.optional_plan = plan_name(gradient_name(k) + "?");
    return v;
  }

  Value index(const Node& e) {
    if (env_.results > 0 && is_name(e.children[0], "grads") &&
        find_local("grads") == nullptr) {
      return gradient(e);
    }
    Value source = run(e.children[0]);
    if (source.kind == Value::Kind::kTuple) {
      const std::size_t k = literal(e.children[1], source.types.size());
      return Value::of(
          source.types[k],
          {"std::get<" + std::to_string(k) + ">(" + source.cpp.text + ")"},
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
      fail(e, "expected a list before '[', got " + describe(source));
    }
    const bool tensors = source.types[0].element() == TypeKind::kTensor;
    const std::string list =
        tensors ? "TensorList(" + source.cpp.text + ")" : source.cpp.text;
    const Value i = integer(e.children[1]);
    return Value::of(source.types[0].element(),
                     {cpp_call("shapes::at", {op_, list, i.cpp.text})},
                     plan_of(PlanKind::kAt, {source.plan, i.plan}));
  }

  const TensorEnv& env_;
  const OpTable& ops_;
  const std::string op_;
  Diagnostics& diagnostics_;
  std::vector<std::pair<std::string, Value>> locals_;
  std::set<std::string> called_;
  // In C++: of the environment and of whatever the expression binds.
  std::set<std::string> names_;
};

}  // namespace

std::optional<TensorCode> compile_tensor(const Expr& e, const TensorEnv& env,
                                         const OpTable& ops,
                                         std::span<const Type> expected,
                                         Diagnostics& diagnostics) {
  try {
    return Compiler(env, ops, diagnostics).top(e, expected);
  } catch (const Failed&) {
    return std::nullopt;
  }
}

}  // namespace sy::lang
