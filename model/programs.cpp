#include "model/programs.h"

#include <algorithm>

#include "lang/compile.h"
#include "lang/primitive_operators.h"

namespace sy::model {
namespace {

// The value of a scalar input when its argument has its default, if it has
// one.
std::optional<lang::Uniform> default_of(const FunctionSchema& schema,
                                        const lang::ScalarInput& s) {
  const int i = schema.argument_index(s.name);
  if (i < 0) return std::nullopt;
  const DefaultValue v = schema.arguments()[i].default_value;
  if (!v) return std::nullopt;
  using Kind = DefaultValue::Kind;
  switch (s.kind) {
    case lang::ScalarInput::Kind::kHasValue:
      return lang::Uniform::of(int64_t{!v.is_none()});
    case lang::ScalarInput::Kind::kEquals:
      return lang::Uniform::of(
          int64_t{v.is(Kind::kString) && v.as_string() == s.text});
    case lang::ScalarInput::Kind::kValue: break;
  }
  switch (v.kind()) {
    case Kind::kBool: return lang::Uniform::of(int64_t{v.as_bool()});
    case Kind::kInt: return lang::Uniform::of(v.as_int());
    case Kind::kDouble: return lang::Uniform::of(v.as_double());
    case Kind::kNone: return lang::Uniform::of(int64_t{0});
    default: return std::nullopt;
  }
}

lang::Expr default_expr(DefaultValue v) {
  using Kind = DefaultValue::Kind;
  switch (v.kind()) {
    case Kind::kBool: return lang::make_bool(v.as_bool());
    case Kind::kInt: return lang::make_int(v.as_int());
    case Kind::kDouble: return lang::make_double(v.as_double());
    case Kind::kString: return lang::make_string(std::string(v.as_string()));
    default: return lang::make_none();
  }
}

// The program with every scalar at its default; nothing if it is no simpler.
std::optional<lang::Program> at_defaults(const FunctionSchema& schema,
                                         const lang::Expr& e,
                                         const lang::ElementEnv& env,
                                         const lang::Program& general) {
  if (general.scalars.empty()) return std::nullopt;
  lang::Bindings bindings;
  for (const lang::ScalarInput& s : general.scalars) {
    if (!default_of(schema, s)) return std::nullopt;
    bindings[s.name] = default_expr(
        schema.arguments()[schema.argument_index(s.name)].default_value);
  }
  lang::Diagnostics diagnostics;
  const lang::Expr results[] = {lang::specialise(e, bindings)};
  auto program = lang::compile_element(results, env, diagnostics);
  if (!program || !program->scalars.empty()) return std::nullopt;
  return program;
}

lang::ElementEnv environment(const lang::Program& program,
                             const FunctionSchema& schema) {
  lang::ElementEnv env = lang::ElementEnv::of(schema);
  // A derivative's operands are other ones.
  std::erase_if(env.names, [](const lang::ElementName& n) {
    return n.kind == lang::ElementKind::kTensor;
  });
  for (const lang::ProgramInput& in : program.inputs) {
    env.names.push_back({in.name, lang::ElementKind::kTensor});
  }
  return env;
}

// `promoted`: the names that count in promotion.
void finish(PointwiseParts& parts, const FunctionSchema& schema,
            const lang::Expr& e, const std::vector<std::string>& promoted) {
  const auto promotes = [&](const std::string& name) {
    return std::find(promoted.begin(), promoted.end(), name) != promoted.end();
  };
  const lang::Program& program = parts.program;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    if (promotes(program.inputs[i].name)) parts.promote_inputs |= 1u << i;
  }
  for (std::size_t i = 0; i < program.scalars.size(); ++i) {
    const lang::ScalarInput& s = program.scalars[i];
    const bool value = s.kind == lang::ScalarInput::Kind::kValue;
    if (value && promotes(s.name)) parts.promote_scalars |= 1u << i;
    if (value && (s.name == "alpha" || s.name == "beta")) {
      parts.whole_scalars |= 1u << i;
    }
    if (value && s.name == "min") parts.lower_bounds |= 1u << i;
    if (value && s.name == "max") parts.upper_bounds |= 1u << i;
    if (const auto v = default_of(schema, s)) parts.defaults.push_back(*v);
  }
  parts.at_defaults =
      at_defaults(schema, e, environment(program, schema), program);
}

std::string rule_of(const Operator& op) {
  return op.entry->promote ? op.entry->promote->rule.str() : "default";
}

// Arguments that count in promotion: those named, else every Tensor and Scalar
// that is not a bool condition.
std::vector<std::string> promoted(const Operator& op,
                                  const lang::Program& program) {
  std::vector<std::string> out;
  if (op.entry->promote && !op.entry->promote->arguments.empty()) {
    for (const lang::Text& a : op.entry->promote->arguments) {
      out.push_back(a.str());
    }
    return out;
  }
  for (const lang::ProgramInput& in : program.inputs) out.push_back(in.name);
  for (const Argument& a : op.base.schema.arguments()) {
    if (a.type.without_optional() == TypeKind::kScalar) {
      out.emplace_back(a.name.view());
    }
  }
  return out;
}

lang::Uniform constant(const lang::Expr& e) {
  const lang::Expr folded = lang::fold(e);
  if (folded->kind == lang::ExprKind::kBool) {
    return lang::Uniform::of(folded->number.i);
  }
  if (folded->number.is_int) return lang::Uniform::of(folded->number.i);
  return lang::Uniform::of(folded->number.d);
}

lang::Program compile_all(const std::vector<lang::Expr>& results,
                          const lang::ElementEnv& env,
                          const lang::CompileOptions& options = {}) {
  lang::Diagnostics diagnostics;
  auto program = lang::compile_element(results, env, diagnostics, options);
  if (!program) throw lang::LangError(diagnostics);
  return std::move(*program);
}

void add_scalars(std::vector<lang::ScalarInput>& all,
                 const lang::Program& program, const FunctionSchema& schema) {
  for (const lang::ScalarInput& s : program.scalars) {
    if (schema.argument_index(s.name) < 0) continue;
    if (std::find(all.begin(), all.end(), s) == all.end()) all.push_back(s);
  }
}

}  // namespace

lang::Program pointwise_program(const Operator& op) {
  return lang::compile_element(op.entry->pointwise->results[0].expr,
                               lang::ElementEnv::of(op.base.schema));
}

PointwiseParts pointwise_parts(const Operator& op) {
  PointwiseParts parts;
  parts.name = op.base.name;
  parts.rule = rule_of(op);
  parts.program = pointwise_program(op);
  finish(parts, op.base.schema, op.entry->pointwise->results[0].expr,
         promoted(op, parts.program));
  if (parts.rule == "only_bool_to_int") parts.promote_scalars |= 1u << 31;
  return parts;
}

PointwiseParts fused_parts(const Operator& op, const GradFormula& formula) {
  PointwiseParts parts;
  parts.name = op.base.name + " backward";
  parts.rule = "default";
  parts.program = compile_all({*formula.fused},
                              lang::ElementEnv::of_derivative(op.base.schema),
                              {.all_inputs = false});
  std::vector<std::string> promoted;
  for (const lang::ProgramInput& in : parts.program.inputs) {
    if (in.reg_class == lang::RegClass::kValue) promoted.push_back(in.name);
  }
  finish(parts, op.base.schema, *formula.fused, promoted);
  return parts;
}

ScanParts scan_parts(const Operator& op) {
  return {rule_of(op),
          compile_all({op.entry->scan->combine.expr}, lang::scan_env())};
}

ReduceParts reduce_parts(const Operator& op) {
  const lang::ReduceBody& body = *op.entry->reduce;
  const FunctionSchema& schema = op.base.schema;
  std::vector<lang::Expr> maps, combines, finishes;
  for (const lang::Accumulator& acc : body.accumulators) {
    maps.push_back(acc.map.expr);
    combines.push_back(acc.combine.expr);
  }
  for (const lang::Formula& f : body.finish) finishes.push_back(f.expr);
  ReduceParts out;
  out.rule = rule_of(op);
  out.map = compile_all(maps, lang::ElementEnv::of(schema));
  out.combine = compile_all(combines, lang::combine_env(body));
  if (!finishes.empty()) {
    out.finish = compile_all(finishes, lang::finish_env(body, schema));
  }
  add_scalars(out.scalars, out.map, schema);
  add_scalars(out.scalars, out.combine, schema);
  if (out.finish) add_scalars(out.scalars, *out.finish, schema);
  const lang::Expr& first = body.accumulators[0].identity.expr;
  if (first && first->kind != lang::ExprKind::kNone) {
    for (const lang::Accumulator& a : body.accumulators) {
      out.identity.push_back(constant(a.identity.expr));
    }
  }
  return out;
}

std::vector<int> scalar_indices(const lang::Program& program,
                                const std::vector<lang::ScalarInput>& scalars) {
  std::vector<int> out;
  bool same = true;
  for (std::size_t i = 0; i < program.scalars.size(); ++i) {
    const auto at =
        std::find(scalars.begin(), scalars.end(), program.scalars[i]);
    const int index =
        at == scalars.end() ? -1 : static_cast<int>(at - scalars.begin());
    same = same && index == static_cast<int>(i);
    out.push_back(index);
  }
  return same ? std::vector<int>() : out;
}

ScalarKind scalar_kind(const lang::ScalarInput& s, Type type) {
  switch (s.kind) {
    case lang::ScalarInput::Kind::kHasValue: return ScalarKind::kHasValue;
    case lang::ScalarInput::Kind::kEquals: return ScalarKind::kEquals;
    case lang::ScalarInput::Kind::kValue: break;
  }
  switch (type.without_optional().kind()) {
    case TypeKind::kInt:
    case TypeKind::kSymInt: return ScalarKind::kInt;
    case TypeKind::kFloat:
    case TypeKind::kSymFloat: return ScalarKind::kFloat;
    case TypeKind::kBool:
    case TypeKind::kSymBool: return ScalarKind::kBool;
    default: return ScalarKind::kScalar;
  }
}

NodeParts node_parts(const Operator& op) {
  const FunctionSchema& schema = op.base.schema;
  NodeParts out;
  const auto scalars = [&](const std::vector<lang::ScalarInput>& list) {
    for (const lang::ScalarInput& s : list) {
      const int i = schema.argument_index(s.name);
      out.scalars.push_back(
          {i, scalar_kind(s, schema.arguments()[i].type), s.text});
    }
  };
  if (op.kind() == lang::OperatorKind::kPointwise) {
    const lang::Program p = pointwise_program(op);
    for (const lang::ProgramInput& in : p.inputs) {
      out.inputs.push_back(schema.argument_index(in.name));
    }
    scalars(p.scalars);
    return out;
  }
  out.inputs.push_back(schema.argument_index("self"));
  out.dim = schema.argument_index("dim");
  out.keepdim = schema.argument_index("keepdim");
  out.dtype = schema.argument_index("dtype");
  if (op.kind() == lang::OperatorKind::kReduce) {
    scalars(reduce_parts(op).scalars);
  }
  return out;
}

namespace {

bool has_operators(const lang::Program& p) {
  return std::all_of(p.steps.begin(), p.steps.end(), [](const lang::Step& s) {
    return lang::has_operators(s.op);
  });
}

// Whether each accumulator is combined with its other side by one reduction
// that is an operator; `any` and `all` are those of bools.
bool has_reductions(const lang::Program& combine) {
  const std::size_t n = combine.results.size();
  if (combine.steps.size() != n) return false;
  for (std::size_t i = 0; i < n; ++i) {
    const auto step = std::find_if(
        combine.steps.begin(), combine.steps.end(),
        [&](const lang::Step& s) { return s.dst == combine.results[i].reg; });
    if (step == combine.steps.end() || step->a != i || step->b != n + i) {
      return false;
    }
    if (lang::reduction_of(step->op).empty() &&
        step->op != lang::Prim::logical_or &&
        step->op != lang::Prim::logical_and) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool is_decomposable(const Operator& op) {
  if (op.ns == "aten" && lang::is_primitive_operator(op.base.name)) {
    return false;
  }
  switch (op.kind()) {
    case lang::OperatorKind::kPointwise:
      return has_operators(pointwise_program(op));
    case lang::OperatorKind::kReduce: {
      const ReduceParts parts = reduce_parts(op);
      return has_reductions(parts.combine) && has_operators(parts.map) &&
             (!parts.finish || has_operators(*parts.finish));
    }
    default: return false;
  }
}

}  // namespace sy::model
