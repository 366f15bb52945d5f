#include <algorithm>

#include "codegen/emit/common.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/programs.h"
#include "codegen/lang/cpp_text.h"
#include "codegen/programs.h"

namespace sy::codegen {
namespace {

using lang::OperatorKind;

bool has_descriptor(const Operator& op) {
  return op.kind() == OperatorKind::kPointwise ||
         op.kind() == OperatorKind::kReduce;
}

std::vector<std::string> indices(
    const lang::Program& program,
    const std::vector<lang::ScalarInput>& scalars) {
  std::vector<std::string> out;
  for (const int i : scalar_indices(program, scalars)) {
    out.push_back(i < 0 ? "ElementProgram::kCount" : std::to_string(i));
  }
  return out;
}

void reduce(Writer& w, const Operator& op) {
  const ReduceParts p = reduce_parts(op);
  const std::string prefix = camel(op.base.id);
  const std::string map =
      emit_program(w, prefix + "Map", p.map, indices(p.map, p.scalars));
  const std::string combine = emit_program(w, prefix + "Combine", p.combine,
                                           indices(p.combine, p.scalars));
  std::string finish;
  if (p.finish) {
    finish = emit_program(w, prefix + "Finish", *p.finish,
                          indices(*p.finish, p.scalars));
  }
  if (!p.identity.empty()) {
    std::vector<std::string> values;
    for (const lang::Uniform& u : p.identity) {
      values.push_back(uniform_text(u));
    }
    w.list("constexpr Uniform k" + prefix + "Identity[] = {", values, "};");
  }
  w.raw("const ReduceOp " + op.base.id + " = {\n");
  w.line("    .name = " + lang::cpp_string(op.base.name) + ",");
  w.line("    .promote = " + promote_rule(p.rule) + ",");
  w.line("    .n_accumulators = " +
         std::to_string(op.entry->reduce->accumulators.size()) + ",");
  w.line("    .n_scalars = " + std::to_string(p.scalars.size()) + ",");
  w.line("    .map = " + map + ",");
  w.line("    .combine = " + combine + ",");
  if (p.finish) w.line("    .finish = &" + finish + ",");
  if (!p.identity.empty()) {
    w.line("    .identity = k" + prefix + "Identity,");
  }
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
  Writer w;
  w.raw(banner(family));
  includes(w, {"aten/ops/" + family.name + "_desc.h"});
  const bool any = std::any_of(family.operators.begin(), family.operators.end(),
                               has_descriptor);
  if (!any) return w.str();
  open_namespace(w, "sy::desc");
  w.gap();
  for (const char* name :
       {"Prim", "RegClass", "Uniform", "UniformOperand", "UniformStep"}) {
    w.line("using lang::" + std::string(name) + ";");
  }
  for (const Operator& op : family.operators) {
    if (!has_descriptor(op)) continue;
    w.gap();
    w.line("// " + op.base.name + "  " + op.source);
    if (op.kind() == OperatorKind::kReduce) {
      reduce(w, op);
    } else {
      emit_pointwise_op(w, op.base.id, pointwise_parts(op));
    }
  }
  close_namespace(w, "sy::desc");
  return w.str();
}

}  // namespace sy::codegen
