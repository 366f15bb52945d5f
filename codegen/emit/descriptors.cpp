#include <algorithm>

#include "codegen/emit/common.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/programs.h"
#include "codegen/lang/cpp_text.h"

namespace sy::codegen {
namespace {

using lang::OperatorKind;

bool has_descriptor(const Operator& op) {
  return op.kind() == OperatorKind::kPointwise ||
         op.kind() == OperatorKind::kReduce;
}

std::string_view rule_of(const Operator& op) {
  return op.entry->promote ? std::string_view(op.entry->promote->rule.str())
                           : "default";
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

void pointwise(Writer& w, const Operator& op) {
  const lang::Program program = pointwise_program(op);
  PointwiseText text;
  text.id = op.base.id;
  text.name = op.base.name;
  text.rule = rule_of(op);
  text.schema = &op.base.schema;
  text.promoted = promoted(op, program);
  emit_pointwise_op(w, text, op.entry->pointwise->results[0].expr, program);
}

std::vector<std::string> scalar_indices(
    const lang::Program& program,
    const std::vector<lang::ScalarInput>& scalars) {
  std::vector<std::string> out;
  bool same = true;
  for (std::size_t i = 0; i < program.scalars.size(); ++i) {
    const auto at =
        std::find(scalars.begin(), scalars.end(), program.scalars[i]);
    if (at == scalars.end()) {
      out.push_back("ElementProgram::kCount");
      same = false;
      continue;
    }
    const auto index = static_cast<std::size_t>(at - scalars.begin());
    same = same && index == i;
    out.push_back(std::to_string(index));
  }
  return same ? std::vector<std::string>() : out;
}

lang::Uniform constant(const lang::Expr& e) {
  const lang::Expr folded = lang::fold(e);
  if (folded->kind == lang::NodeKind::kBool) {
    return lang::Uniform::of(folded->number.i);
  }
  if (folded->number.is_int) return lang::Uniform::of(folded->number.i);
  return lang::Uniform::of(folded->number.d);
}

void reduce(Writer& w, const Operator& op) {
  const ReducePrograms p = reduce_programs(op);
  const std::string prefix = camel(op.base.id);
  const auto& accumulators = op.entry->reduce->accumulators;
  const std::string map =
      emit_program(w, prefix + "Map", p.map, scalar_indices(p.map, p.scalars));
  const std::string combine = emit_program(
      w, prefix + "Combine", p.combine, scalar_indices(p.combine, p.scalars));
  std::string finish;
  if (p.finish) {
    finish = emit_program(w, prefix + "Finish", *p.finish,
                          scalar_indices(*p.finish, p.scalars));
  }
  const bool has_identity =
      accumulators[0].identity.expr &&
      accumulators[0].identity.expr->kind != lang::NodeKind::kNone;
  if (has_identity) {
    std::vector<std::string> values;
    for (const lang::Accumulator& a : accumulators) {
      values.push_back(uniform_text(constant(a.identity.expr)));
    }
    w.list("constexpr Uniform k" + prefix + "Identity[] = {", values, "};");
  }
  w.raw("const ReduceOp " + op.base.id + " = {\n");
  w.line("    .name = " + lang::cpp_string(op.base.name) + ",");
  w.line("    .promote = " + promote_rule(rule_of(op)) + ",");
  w.line("    .n_accumulators = " + std::to_string(accumulators.size()) + ",");
  w.line("    .n_scalars = " + std::to_string(p.scalars.size()) + ",");
  w.line("    .map = " + map + ",");
  w.line("    .combine = " + combine + ",");
  if (p.finish) w.line("    .finish = &" + finish + ",");
  if (has_identity) w.line("    .identity = k" + prefix + "Identity,");
  w.line("};");
}

}  // namespace

std::string emit_descriptors_header(const Model&, const Family& family) {
  Writer w;
  w.raw(banner(family));
  w.line("#pragma once");
  w.gap();
  includes(w, {"aten/op_desc.h"});
  const bool any = std::any_of(family.operators.begin(), family.operators.end(),
                               has_descriptor);
  if (!any) return w.str();
  open_namespace(w, "sy::desc");
  w.gap();
  for (const Operator& op : family.operators) {
    if (!has_descriptor(op)) continue;
    w.line(std::string("SY_API extern const ") +
           (op.kind() == OperatorKind::kReduce ? "ReduceOp " : "PointwiseOp ") +
           op.base.id + ";");
  }
  close_namespace(w, "sy::desc");
  return w.str();
}

std::string emit_descriptors(const Model&, const Family& family) {
  Writer body;
  for (const Operator& op : family.operators) {
    if (!has_descriptor(op)) continue;
    body.gap();
    body.line("// " + op.base.name + "  " + op.source);
    if (op.kind() == OperatorKind::kReduce) {
      reduce(body, op);
    } else {
      pointwise(body, op);
    }
  }
  Writer w;
  w.raw(banner(family));
  if (body.str().find("std::numeric_limits") != std::string::npos) {
    w.line("#include <limits>");
    w.gap();
  }
  includes(w, {"aten/ops/" + family.name + "_desc.h"});
  if (body.str().empty()) return w.str();
  open_namespace(w, "sy::desc");
  w.gap();
  for (const char* name :
       {"Prim", "RegClass", "Uniform", "UniformOperand", "UniformStep"}) {
    w.line("using lang::" + std::string(name) + ";");
  }
  w.gap();
  w.raw(body.str());
  close_namespace(w, "sy::desc");
  return w.str();
}

}  // namespace sy::codegen
