#include "lang/index.h"

#include <algorithm>
#include <utility>

#include "lang/cpp_names.h"
#include "lang/format.h"
#include "lang/index_given.h"

namespace sy::lang {
namespace {

struct Method {
  std::string_view name;
  bool takes_dim;
  IndexType result;
};
constexpr Method kMethods[] = {
    {"dim", false, IndexType::kInt},
    {"dtype", false, IndexType::kScalarType},
    {"is_contiguous", false, IndexType::kBool},
    {"is_floating_point", false, IndexType::kBool},
    {"numel", false, IndexType::kInt},
    {"scalar_type", false, IndexType::kScalarType},
    {"size", true, IndexType::kInt},
    {"sizes", false, IndexType::kList},
    {"storage_offset", false, IndexType::kInt},
    {"stride", true, IndexType::kInt},
    {"strides", false, IndexType::kList},
};

IndexType type_of(char letter) {
  switch (letter) {
    case 'o':
    case 'i': return IndexType::kInt;
    case 'l': return IndexType::kList;
    case 'b': return IndexType::kBool;
    case 'n': return IndexType::kNumber;
    case 't': return IndexType::kTensor;
    default: return IndexType::kTensorList;
  }
}

bool converts(IndexType from, IndexType to) {
  return from == to || (from == IndexType::kInt && to == IndexType::kNumber);
}

std::string article(IndexType t) {
  return (t == IndexType::kInt ? "an " : "a ") + std::string(to_string(t));
}

struct Failed {};

struct Typed {
  IndexType type;
  Cpp cpp;
  Plan plan;
  // The C++ of an optional int as a whole; None has it and no value.
  std::string optional = {};
  bool is_dims = false;    // a list that is a Dims
  bool is_vector = false;  // one of any length, made here
};

class Compiler {
 public:
  Compiler(const IndexEnv& env, std::string_view op, Names given,
           Diagnostics& diagnostics)
      : env_(env),
        op_(cpp_string(op)),
        diagnostics_(diagnostics),
        given_(std::move(given)) {}

  // Lets at the top become statements.
  IndexCode top(Expr e) {
    IndexCode code;
    std::vector<std::pair<std::string, Plan>> lets;
    const std::size_t scope = locals_.size();
    while (e->kind == ExprKind::kLet) {
      lets.emplace_back(e->name, define(*e, code.statements));
      e = e->children[1];
    }
    Typed t = run(e);
    locals_.resize(scope);
    code.plan = std::move(t.plan);
    for (; !lets.empty(); lets.pop_back()) {
      code.plan =
          plan_of(PlanKind::kLet, {lets.back().second, std::move(code.plan)},
                  lets.back().first);
    }
    code.type = t.type;
    code.value = std::move(t.cpp.text);
    code.is_dims = t.is_dims;
    code.is_vector = t.is_vector;
    code.headers = headers_;
    return code;
  }

  Typed run(const Expr& e) {
    switch (e->kind) {
      case ExprKind::kNumber:
        if (e->number.is_int) return integer(e->number);
        return {IndexType::kNumber,
                {cpp_double(e->number.d, headers_)},
                plan_number(e->number)};
      case ExprKind::kBool:
        return {IndexType::kBool,
                {e->number.i ? "true" : "false"},
                make_plan({PlanKind::kBool, {}, {}, e->number})};
      case ExprKind::kNone: fail(*e, "None can only be compared: 'x == None'");
      case ExprKind::kString:
        return {IndexType::kString,
                {cpp_string(e->name)},
                plan_of(PlanKind::kString, {}, e->name)};
      case ExprKind::kName: return name(*e);
      case ExprKind::kUnary: return unary(*e);
      case ExprKind::kBinary: return binary(*e);
      case ExprKind::kCall: return call(*e);
      case ExprKind::kMethod:
      case ExprKind::kAttribute: return method(*e);
      case ExprKind::kIf: return branch(*e);
      case ExprKind::kLet: {
        IndexCode inner = top(e);
        return {inner.type,
                {cpp_block(inner.statements, inner.value)},
                std::move(inner.plan),
                {},
                inner.is_dims,
                inner.is_vector};
      }
      case ExprKind::kList: return list(*e);
      case ExprKind::kComprehension: return comprehension(*e);
      case ExprKind::kIndex: return index(*e);
      case ExprKind::kSlice: return slice(*e);
    }
    fail(*e, "unexpected expression");
  }

  Typed expect(const Expr& e, IndexType wanted) {
    Typed t = run(e);
    if (!converts(t.type, wanted)) {
      fail(*e, "expected {}, got {}", article(wanted), article(t.type));
    }
    return t;
  }

 private:
  struct Local {
    std::string name;
    IndexType type;
    bool is_dims, is_vector;
  };

  template <class... Args>
  [[noreturn]] void fail(const ExprNode& e,
                         fmt::format_string<const Args&...> format,
                         const Args&... args) {
    diagnostics_.error(e.at, fmt::format(format, args...));
    throw Failed{};
  }

  static Typed integer(const Number& n) {
    std::string text = cpp_int(n.i);
    const bool sign = text[0] == '-';
    return {IndexType::kInt,
            {std::move(text), sign ? Cpp::kSign : Cpp::kPrimary},
            plan_number(n)};
  }

  static Typed dims(std::string text, Plan plan) {
    return {IndexType::kList, {std::move(text)}, std::move(plan), {}, true};
  }
  static Cpp as_dims(const Typed& list) {
    return list.is_dims ? list.cpp
                        : Cpp{fmt::format("Dims({})", list.cpp.text)};
  }

  // The call of a function of the index typing that no table names.
  std::string built_in(std::string_view name,
                       const std::vector<std::string>& args) {
    headers_.emplace("aten/engine/geometry.h");
    return cpp_call(fmt::format("geometry::{}", name), args);
  }

  // The plan of the value that the variable of the let holds.
  Plan define(const ExprNode& e, std::vector<std::string>& statements) {
    Typed value = run(e.children[0]);
    const std::string name = cpp_name(e.name);
    const auto same = [&](const auto& n) { return cpp_name(n.name) == name; };
    if (std::any_of(env_.names.begin(), env_.names.end(), same) ||
        std::any_of(locals_.begin(), locals_.end(), same)) {
      fail(e, "'{}' is already defined", e.name);
    }
    const std::string type = value.type == IndexType::kInt ? "int64_t" : "auto";
    statements.push_back(
        fmt::format("const {} {} = {};", type, name, value.cpp.text));
    locals_.push_back({e.name, value.type, value.is_dims, value.is_vector});
    return std::move(value.plan);
  }

  Typed name(const ExprNode& e) {
    for (auto it = locals_.rbegin(); it != locals_.rend(); ++it) {
      if (it->name != e.name) continue;
      return {it->type, {cpp_name(e.name)}, plan_name(e.name),
              {},       it->is_dims,        it->is_vector};
    }
    if (const IndexName* n = env_.find(e.name)) {
      Plan plan = plan_name(n->name);
      // Reads a Scalar as a double.
      if (n->cpp.ends_with("to_double()")) plan = plan_double(std::move(plan));
      if (!n->cpp.empty()) return {n->type, {n->cpp}, plan, {}, n->is_dims};
      const std::string text = cpp_name(n->name);
      if (!n->optional) return {n->type, {text}, plan};
      if (!is_given(n->name)) {
        fail(e, "'{0}' may be None here: ask '{0} == None' first", e.name);
      }
      return {n->type, {fmt::format("(*{})", text)}, plan};
    }
    if (const std::string dtype = cpp_dtype(e.name); !dtype.empty()) {
      return {IndexType::kScalarType,
              {dtype},
              plan_of(PlanKind::kDtype, {}, e.name)};
    }
    std::vector<std::string_view> names;
    for (const Local& l : locals_) names.push_back(l.name);
    for (const IndexName& n : env_.names) names.push_back(n.name);
    for (const IndexFunction& f : index_functions()) {
      if (f.name == e.name) {
        fail(e, "'{}' is a function; its arguments are missing", e.name);
      }
    }
    fail(e, "unknown name '{}'{}", e.name, suggest(e.name, names));
  }

  Typed unary(const ExprNode& e) {
    if (e.op == Op::kNot) {
      const Typed x = expect(e.children[0], IndexType::kBool);
      return {IndexType::kBool,
              {"!" + x.cpp.in(Cpp::kSign), Cpp::kSign},
              plan_of(PlanKind::kNot, {x.plan})};
    }
    const Typed x = run(e.children[0]);
    if (x.type != IndexType::kInt && x.type != IndexType::kNumber) {
      fail(e, "expected an int after '-', got {}", article(x.type));
    }
    // `--x` would be another operator.
    return {x.type,
            {"-" + x.cpp.in(Cpp::kPrimary), Cpp::kSign},
            plan_of(PlanKind::kNegate, {x.plan})};
  }

  bool is_given(std::string_view name) const {
    return std::find(given_.begin(), given_.end(), name) != given_.end();
  }

  // The result of f where `condition` is `truth`.
  template <class F>
  Typed where(const ExprNode& condition, bool truth, const F& f) {
    const std::size_t before = given_.size();
    collect_given(condition, truth, given_);
    Typed t = f();
    given_.resize(before);
    return t;
  }

  // `x == None`; nothing if it is no such question.
  std::optional<Typed> question(const ExprNode& e) {
    for (int i = 0; i < 2; ++i) {
      if (e.children[i]->kind != ExprKind::kNone) continue;
      const ExprNode& other = *e.children[1 - i];
      const IndexName* n = env_.find(other.name);
      if (other.kind != ExprKind::kName || !n || !n->optional) {
        fail(other, "expected an optional argument beside None");
      }
      const Cpp has =
          cpp_has_value(cpp_name(n->name), n->type == IndexType::kTensor);
      const Plan asks = plan_of(PlanKind::kHasValue, {plan_name(n->name)});
      if (e.op == Op::kNe) return Typed{IndexType::kBool, has, asks};
      if (e.op == Op::kEq) {
        return Typed{IndexType::kBool,
                     {"!" + has.in(Cpp::kPrimary), Cpp::kSign},
                     plan_of(PlanKind::kNot, {asks})};
      }
      fail(e, "expected '==' or '!=' beside None");
    }
    return std::nullopt;
  }

  Typed binary(const ExprNode& e) {
    if (const auto q = question(e)) return *q;
    if (e.op == Op::kAnd || e.op == Op::kOr) {
      const bool is_and = e.op == Op::kAnd;
      const Typed a = expect(e.children[0], IndexType::kBool);
      const Typed b = where(*e.children[0], is_and, [&] {
        return expect(e.children[1], IndexType::kBool);
      });
      return {IndexType::kBool,
              cpp_binary(is_and ? "&&" : "||", is_and ? Cpp::kAnd : Cpp::kOr,
                         a.cpp, b.cpp),
              plan_binary(e.op, a.plan, b.plan)};
    }
    const Typed a = run(e.children[0]);
    const Typed b = run(e.children[1]);
    if (is_comparison(e.op)) return comparison(e, a, b);
    return arithmetic(e, a, b);
  }

  Typed comparison(const ExprNode& e, const Typed& a, const Typed& b) {
    const bool numbers = converts(a.type, IndexType::kNumber) &&
                         converts(b.type, IndexType::kNumber);
    const bool equality = e.op == Op::kEq || e.op == Op::kNe;
    const bool comparable =
        numbers ||
        (equality && a.type == b.type && a.type != IndexType::kTensor &&
         a.type != IndexType::kTensorList && a.type != IndexType::kOther);
    if (!comparable) {
      fail(e, "'{}' cannot compare {} and {}", to_string(e.op), article(a.type),
           article(b.type));
    }
    Cpp left = a.cpp;
    Cpp right = b.cpp;
    // Two lists that are made here compare as what they convert to.
    const bool made_a = a.is_dims || a.is_vector;
    const bool made_b = b.is_dims || b.is_vector;
    if (made_a && made_b) {
      left = {fmt::format("IntArrayRef({})", left.text)};
    }
    return {IndexType::kBool,
            cpp_binary(to_string(e.op), Cpp::kCompare, left, right),
            plan_binary(e.op, a.plan, b.plan)};
  }

  Typed arithmetic(const ExprNode& e, const Typed& a, const Typed& b) {
    if (e.op == Op::kAdd && a.type == IndexType::kList &&
        b.type == IndexType::kList) {
      return dims(built_in("concat", {a.cpp.text, b.cpp.text}),
                  plan_of(PlanKind::kConcat, {a.plan, b.plan}));
    }
    const bool ints = a.type == IndexType::kInt && b.type == IndexType::kInt;
    if (!converts(a.type, IndexType::kNumber) ||
        !converts(b.type, IndexType::kNumber)) {
      fail(e, "'{}' cannot combine {} and {}", to_string(e.op), article(a.type),
           article(b.type));
    }
    const IndexType type = ints ? IndexType::kInt : IndexType::kNumber;
    const Plan plan = plan_binary(e.op, a.plan, b.plan);
    const auto typed = [&](const char* op, Cpp::Level level) -> Typed {
      return {type, cpp_binary(op, level, a.cpp, b.cpp), plan};
    };
    switch (e.op) {
      case Op::kAdd: return typed("+", Cpp::kSum);
      case Op::kSub: return typed("-", Cpp::kSum);
      case Op::kMul: return typed("*", Cpp::kProduct);
      case Op::kDiv:
        if (ints) fail(e, "'/' of two ints; write '//', which rounds down");
        return typed("/", Cpp::kProduct);
      case Op::kFloorDiv:
      case Op::kMod:
        if (!ints) break;
        return {type,
                {built_in(e.op == Op::kMod ? "mod" : "floor_div",
                          {op_, a.cpp.text, b.cpp.text})},
                plan};
      default: break;
    }
    fail(e, "'{}' is not for indices", to_string(e.op));
  }

  Typed call(const ExprNode& e) {
    if (!e.keywords.empty()) {
      fail(e, "'{}' takes no keyword arguments", e.name);
    }
    std::vector<Typed> args;
    for (const Expr& c : e.children) args.push_back(argument(c));
    std::vector<const IndexFunction*> named;
    for (const IndexFunction& f : index_functions()) {
      if (f.name == e.name) named.push_back(&f);
    }
    if (named.empty()) {
      std::vector<std::string_view> names;
      for (const IndexFunction& f : index_functions()) {
        names.push_back(f.name);
      }
      fail(e, "unknown function '{}'{}", e.name, suggest(e.name, names));
    }
    for (const IndexFunction* f : named) {
      if (fits(*f, args)) return call(*f, args);
    }
    std::string message = "expected ";
    for (std::size_t i = 0; i < named.size(); ++i) {
      message += (i ? " or " : "") + usage(*named[i]);
    }
    fail(e, "{}, got {}", message, usage(e.name, args));
  }

  // An optional int may be handed on as it is.
  Typed argument(const Expr& e) {
    if (e->kind == ExprKind::kNone) {
      return {IndexType::kOther,
              {""},
              plan_of(PlanKind::kNone, {}),
              "std::nullopt"};
    }
    const IndexName* n =
        e->kind == ExprKind::kName ? env_.find(e->name) : nullptr;
    if (!n || !n->optional || n->type != IndexType::kInt) return run(e);
    Typed t{IndexType::kOther, {""}, plan_name(n->name)};
    if (is_given(n->name)) t = run(e);
    t.optional = cpp_name(n->name);
    return t;
  }

  static bool fits(const IndexFunction& f, const std::vector<Typed>& args) {
    if (f.parameters.size() != args.size()) return false;
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (f.parameters[i] == 'o' && !args[i].optional.empty()) continue;
      if (!converts(args[i].type, type_of(f.parameters[i]))) return false;
    }
    return true;
  }

  Typed call(const IndexFunction& f, const std::vector<Typed>& args) {
    std::vector<std::string> text;
    std::vector<Plan> plans;
    if (f.op) text.push_back(op_);
    for (std::size_t i = 0; i < args.size(); ++i) {
      const bool whole = f.parameters[i] == 'o' && !args[i].optional.empty();
      text.push_back(whole ? args[i].optional : args[i].cpp.text);
      plans.push_back(args[i].plan);
    }
    headers_.emplace(f.header);
    return {type_of(f.result),
            {cpp_call(f.cpp, text)},
            plan_index_function(f, std::move(plans)),
            {},
            f.result == 'l'};
  }

  static std::string usage(const IndexFunction& f) {
    std::string out(f.name);
    out += '(';
    for (std::size_t i = 0; i < f.parameters.size(); ++i) {
      if (i) out += ", ";
      out += to_string(type_of(f.parameters[i]));
    }
    return out + ')';
  }
  static std::string usage(const std::string& name,
                           const std::vector<Typed>& args) {
    std::string out = name + '(';
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (i) out += ", ";
      out += to_string(args[i].type);
    }
    return out + ')';
  }

  Typed method(const ExprNode& e) {
    const Typed self = run(e.children[0]);
    if (self.type == IndexType::kNumber && e.name == "dtype") {
      // The dtype of a Scalar: bool, int64 or float64.
      if (const IndexName* n = env_.find(e.children[0]->name);
          n && n->cpp.ends_with(".to_double()")) {
        return {IndexType::kScalarType,
                {cpp_name(n->name) + ".type()"},
                plan_of(PlanKind::kMetadata, {plan_name(n->name)}, e.name)};
      }
    }
    if (self.type != IndexType::kTensor) {
      fail(e, "only tensors have methods; '.{}' of {}", e.name,
           article(self.type));
    }
    const auto* m =
        std::find_if(std::begin(kMethods), std::end(kMethods),
                     [&](const Method& known) { return known.name == e.name; });
    if (m == std::end(kMethods)) {
      std::vector<std::string_view> names;
      for (const Method& known : kMethods) names.push_back(known.name);
      fail(e, "unknown method '{}'{}", e.name, suggest(e.name, names));
    }
    const std::size_t given = e.children.size() - 1;
    if (given != static_cast<std::size_t>(m->takes_dim)) {
      fail(e, "'{}' expects {}, got {}", e.name,
           m->takes_dim ? "1 argument" : "no arguments", given);
    }
    std::vector<std::string> args;
    std::vector<Plan> plans = {self.plan};
    if (m->takes_dim) {
      const Typed dim = expect(e.children[1], IndexType::kInt);
      args.push_back(dim.cpp.text);
      plans.push_back(dim.plan);
    }
    return {m->result,
            {cpp_call(fmt::format("{}.{}", self.cpp.text, e.name), args)},
            plan_of(PlanKind::kMetadata, std::move(plans), e.name)};
  }

  Typed branch(const ExprNode& e) {
    const Typed c = expect(e.children[0], IndexType::kBool);
    const auto side = [&](bool truth) {
      return where(*e.children[0], truth,
                   [&] { return run(e.children[truth ? 1 : 2]); });
    };
    Typed a = side(true);
    Typed b = side(false);
    if (!converts(a.type, b.type) && !converts(b.type, a.type)) {
      fail(e, "the branches differ: {} and {}", article(a.type),
           article(b.type));
    }
    const IndexType type = converts(a.type, b.type) ? b.type : a.type;
    const bool lists = type == IndexType::kList;
    if (lists) {
      // Both get one C++ type.
      a.cpp = as_dims(a);
      b.cpp = as_dims(b);
    }
    return {type,
            {fmt::format("{} ? {} : {}", c.cpp.in(Cpp::kOr), a.cpp.in(Cpp::kOr),
                         b.cpp.in(Cpp::kOr)),
             Cpp::kTernary},
            plan_of(PlanKind::kIf, {c.plan, a.plan, b.plan}),
            {},
            lists};
  }

  Typed list(const ExprNode& e) {
    std::vector<std::string> items;
    PlanNode plan{PlanKind::kList};
    plan.type = TypeKind::kInt;
    for (const Expr& c : e.children) {
      const Typed item = expect(c, IndexType::kInt);
      items.push_back(item.cpp.text);
      plan.children.push_back(item.plan);
    }
    std::string text = cpp_call("", items);
    text.front() = '{';
    text.back() = '}';
    return dims(
        items.empty() ? "Dims()" : fmt::format("Dims(IntArrayRef({}))", text),
        make_plan(std::move(plan)));
  }

  Typed comprehension(const ExprNode& e) {
    const Typed source = run(e.children[1]);
    IndexType item = IndexType::kInt;
    std::string parameter = "int64_t " + cpp_name(e.name);
    if (source.type == IndexType::kTensorList) {
      item = IndexType::kTensor;
      parameter = "const Tensor& " + cpp_name(e.name);
    } else if (source.type != IndexType::kList) {
      fail(*e.children[1], "expected a list after 'in', got {}",
           article(source.type));
    }
    if (env_.find(e.name)) fail(e, "'{}' is already defined", e.name);
    locals_.push_back({e.name, item, false, false});
    PlanNode plan{PlanKind::kComprehension, e.name, {{}, source.plan}};
    plan.type = TypeKind::kInt;
    const auto lambda = [&](const Expr& body, bool condition) {
      const Typed t = run(body);
      const bool ok =
          condition ? t.type == IndexType::kBool
                    : t.type == IndexType::kInt || t.type == IndexType::kBool;
      if (!ok) {
        fail(*body, "expected {}, got {}", condition ? "a bool" : "an int",
             article(t.type));
      }
      if (condition) {
        plan.children.push_back(t.plan);
      } else {
        plan.children[0] = t.plan;
      }
      return fmt::format("[&]({}) {{ return {}; }}", parameter, t.cpp.text);
    };
    std::vector<std::string> args = {source.cpp.text};
    if (e.children.size() > 2) args.push_back(lambda(e.children[2], true));
    args.push_back(lambda(e.children[0], false));
    locals_.pop_back();
    const bool chosen = e.children.size() > 2;
    if (source.is_dims) {
      return dims(built_in(chosen ? "map_if" : "map", args),
                  make_plan(std::move(plan)));
    }
    // Lists of tensors and of numbers may be longer than there are dims.
    return {IndexType::kList,
            {built_in(chosen ? "each_if" : "each", args)},
            make_plan(std::move(plan)),
            {},
            false,
            true};
  }

  Typed index(const ExprNode& e) {
    const Typed source = run(e.children[0]);
    const Typed i = expect(e.children[1], IndexType::kInt);
    IndexType type = IndexType::kInt;
    if (source.type == IndexType::kTensorList) {
      type = IndexType::kTensor;
    } else if (source.type != IndexType::kList) {
      fail(e, "expected a list before '[', got {}", article(source.type));
    }
    return {type,
            {built_in("at", {op_, source.cpp.text, i.cpp.text})},
            plan_of(PlanKind::kAt, {source.plan, i.plan})};
  }

  Typed slice(const ExprNode& e) {
    const Typed source = expect(e.children[0], IndexType::kList);
    std::vector<std::string> args = {source.cpp.text, "0", "INT64_MAX"};
    std::vector<Plan> plans = {source.plan, {}, {}};
    for (std::size_t i = 1; i < 3; ++i) {
      if (e.children[i]->kind == ExprKind::kNone) continue;
      const Typed bound = expect(e.children[i], IndexType::kInt);
      args[i] = bound.cpp.text;
      plans[i] = bound.plan;
    }
    return dims(built_in("slice", args),
                plan_of(PlanKind::kSlice, std::move(plans)));
  }

  const IndexEnv& env_;
  const std::string op_;
  Diagnostics& diagnostics_;
  Headers headers_;
  std::vector<Local> locals_;
  Names given_;  // optional arguments that are not None
};

}  // namespace

void collect_given(const ExprNode& e, bool truth, Names& out) {
  if (e.kind == ExprKind::kUnary && e.op == Op::kNot) {
    return collect_given(*e.children[0], !truth, out);
  }
  if (e.kind != ExprKind::kBinary) return;
  if (e.op == (truth ? Op::kAnd : Op::kOr)) {
    collect_given(*e.children[0], truth, out);
    collect_given(*e.children[1], truth, out);
  }
  if (e.op != (truth ? Op::kNe : Op::kEq)) return;
  for (std::size_t i = 0; i < 2; ++i) {
    const ExprNode& name = *e.children[1 - i];
    if (e.children[i]->kind == ExprKind::kNone && name.kind == ExprKind::kName)
      out.push_back(name.name);
  }
}

std::string_view to_string(IndexType type) {
  switch (type) {
    case IndexType::kInt: return "int";
    case IndexType::kBool: return "bool";
    case IndexType::kList: return "list";
    case IndexType::kNumber: return "number";
    case IndexType::kTensor: return "tensor";
    case IndexType::kTensorList: return "list of tensors";
    case IndexType::kString: return "string";
    case IndexType::kScalarType: return "dtype";
    case IndexType::kOther: break;
  }
  return "value of another type";
}

IndexEnv IndexEnv::of(const FunctionSchema& schema) {
  IndexEnv env;
  for (const Argument& a : schema.arguments()) {
    if (a.is_out()) continue;
    const Type type = a.type.without_optional();
    IndexName n{std::string(a.name.view()), IndexType::kOther,
                a.type.is_optional()};
    if (type.is_list()) {
      const Type element = type.element();
      if (element == TypeKind::kInt || element == TypeKind::kSymInt) {
        n.type = IndexType::kList;
      } else if (element == TypeKind::kTensor) {
        n.type = IndexType::kTensorList;
      }
      env.names.push_back(std::move(n));
      continue;
    }
    switch (type.kind()) {
      case TypeKind::kTensor: n.type = IndexType::kTensor; break;
      case TypeKind::kInt:
      case TypeKind::kSymInt: n.type = IndexType::kInt; break;
      case TypeKind::kBool:
      case TypeKind::kSymBool: n.type = IndexType::kBool; break;
      case TypeKind::kFloat:
      case TypeKind::kSymFloat: n.type = IndexType::kNumber; break;
      case TypeKind::kScalar:
        n.type = IndexType::kNumber;
        n.cpp =
            cpp_name(n.name) + (n.optional ? "->to_double()" : ".to_double()");
        break;
      case TypeKind::kStr: n.type = IndexType::kString; break;
      case TypeKind::kScalarType: n.type = IndexType::kScalarType; break;
      default: break;
    }
    env.names.push_back(std::move(n));
  }
  return env;
}

const IndexName* IndexEnv::find(std::string_view name) const {
  for (const IndexName& n : names) {
    if (n.name == name) return &n;
  }
  return nullptr;
}

std::optional<IndexCode> compile_given(const Expr& e, const IndexEnv& env,
                                       std::optional<IndexType> expected,
                                       std::string_view op, const Names& given,
                                       Diagnostics& diagnostics) {
  try {
    IndexCode code = Compiler(env, op, given, diagnostics).top(e);
    if (expected && !converts(code.type, *expected)) {
      diagnostics.error(e->at, "expected {}, got {}", article(*expected),
                        article(code.type));
      return std::nullopt;
    }
    return code;
  } catch (const Failed&) {
    return std::nullopt;
  }
}

std::optional<IndexCode> compile_index(const Expr& e, const IndexEnv& env,
                                       std::optional<IndexType> expected,
                                       std::string_view op,
                                       Diagnostics& diagnostics) {
  return compile_given(e, env, expected, op, {}, diagnostics);
}

}  // namespace sy::lang
