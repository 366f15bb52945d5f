#include <algorithm>

#include "codegen/emit/common.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/programs.h"
#include "codegen/model_names.h"
#include "lang/cpp_text.h"
#include "model/programs.h"

namespace sy::codegen {
namespace {

using lang::OperatorKind;

std::vector<std::string> indices(
    const lang::Program& program,
    const std::vector<lang::ScalarInput>& scalars) {
  std::vector<std::string> out;
  for (const int i : scalar_indices(program, scalars)) {
    out.push_back(i < 0 ? "ElementProgram::kCount" : std::to_string(i));
  }
  return out;
}

void accumulate(Writer& w, const std::optional<lang::Text>& rule) {
  if (rule) w.line("    .accumulate = AccumulateRule::Double,");
}

void scan(Writer& w, const Operator& op, const CompiledPrograms& compiled) {
  const lang::ScanBody& body = *op.entry->scan;
  const ScanParts p = scan_parts(op);
  const std::string combine =
      emit_program(w, camel(op.base.id) + "Combine", p.combine, {}, compiled);
  w.raw("const ScanOp {} = {{\n", op.base.id);
  w.line("    .name = {},", lang::cpp_string(op.base.name));
  w.line("    .promote = {},", promote_rule(p.rule));
  accumulate(w, body.accumulate);
  if (body.chooses) w.line("    .chooses = true,");
  w.line("    .combine = {},", combine);
  w.line("};");
}

void reduce(Writer& w, const Operator& op, const CompiledPrograms& compiled) {
  const ReduceParts p = reduce_parts(op);
  const std::string prefix = camel(op.base.id);
  const std::string map = emit_program(w, prefix + "Map", p.map,
                                       indices(p.map, p.scalars), compiled);
  const std::string combine =
      emit_program(w, prefix + "Combine", p.combine,
                   indices(p.combine, p.scalars), compiled);
  std::string finish;
  if (p.finish) {
    finish = emit_program(w, prefix + "Finish", *p.finish,
                          indices(*p.finish, p.scalars), compiled);
  }
  if (!p.identity.empty()) {
    std::vector<std::string> values;
    for (const lang::Uniform& u : p.identity) {
      values.push_back(uniform_text(w, u));
    }
    w.list(fmt::format("constexpr Uniform k{}Identity[] = {{", prefix), values,
           "};");
  }
  w.raw("const ReduceOp {} = {{\n", op.base.id);
  w.line("    .name = {},", lang::cpp_string(op.base.name));
  w.line("    .promote = {},", promote_rule(p.rule));
  w.line("    .n_accumulators = {},", op.entry->reduce->accumulators.size());
  const std::size_t results = op.base.schema.returns().size();
  if (results > 1) {
    w.line("    .n_results = {},", results);
  }
  w.line("    .n_scalars = {},", p.scalars.size());
  accumulate(w, op.entry->reduce->accumulate);
  w.line("    .map = {},", map);
  w.line("    .combine = {},", combine);
  if (p.finish) w.line("    .finish = &{},", finish);
  if (!p.identity.empty()) {
    w.line("    .identity = k{}Identity,", prefix);
  }
  w.line("};");
}

std::string descriptor_kind(const Operator& op) {
  switch (op.kind()) {
    case OperatorKind::kReduce: return "reduce";
    case OperatorKind::kScan: return "scan";
    default: return "pointwise";
  }
}

const char* const kScalarKinds[] = {"kScalar", "kInt",      "kFloat",
                                    "kBool",   "kHasValue", "kEquals"};

// Writes the NodeDesc: the arguments of a call that the program takes.
void node(Writer& w, const Operator& op) {
  const NodeParts p = node_parts(op);
  const std::string prefix = camel(op.base.id);
  std::vector<std::string> inputs, scalars;
  for (const int i : p.inputs) inputs.push_back(std::to_string(i));
  w.list(fmt::format("constexpr uint8_t k{}Arguments[] = {{", prefix), inputs,
         "};");
  for (const NodeParts::Scalar& s : p.scalars) {
    std::string text = fmt::format("{{{}", s.argument);
    if (s.kind != ScalarKind::kScalar) {
      text += std::string(", NodeScalar::") +
              kScalarKinds[static_cast<std::size_t>(s.kind)];
    }
    if (s.kind == ScalarKind::kEquals) text += ", " + lang::cpp_string(s.text);
    scalars.push_back(text + "}");
  }
  if (!scalars.empty()) {
    w.list(fmt::format("constexpr NodeScalar k{}NodeScalars[] = {{", prefix),
           scalars, "};");
  }
  w.raw("const NodeDesc {}_node = {{\n", op.base.id);
  w.line("    .{} = &{},", descriptor_kind(op), op.base.id);
  w.line("    .inputs = k{}Arguments,", prefix);
  if (!scalars.empty()) {
    w.line("    .scalars = k{}NodeScalars,", prefix);
  }
  w.line("    .n_inputs = {},", inputs.size());
  if (!scalars.empty()) {
    w.line("    .n_scalars = {},", scalars.size());
  }
  const auto argument = [&](const char* name, int i) {
    if (i >= 0) {
      w.line("    .{} = {},", name, i);
    }
  };
  argument("dim", p.dim);
  argument("keepdim", p.keepdim);
  argument("dtype", p.dtype);
  w.line("};");
}

}  // namespace

std::string emit_descriptors_header(const Model&, const Family& family) {
  Writer w;
  w.raw(banner(family));
  w.line("#pragma once");
  w.gap();
  includes(w, {"aten/program/op_desc.h"});
  const bool any = std::any_of(family.operators.begin(), family.operators.end(),
                               has_descriptor);
  if (!any) return w.str();
  open_namespace(w, "sy::desc");
  w.gap();
  for (const Operator& op : family.operators) {
    if (!has_descriptor(op)) continue;
    w.line("SY_API extern const {} {};",
           op.kind() == OperatorKind::kReduce ? "ReduceOp"
           : op.kind() == OperatorKind::kScan ? "ScanOp"
                                              : "PointwiseOp",
           op.base.id);
    w.line("SY_API extern const NodeDesc {}_node;", op.base.id);
  }
  close_namespace(w, "sy::desc");
  return w.str();
}

std::string emit_descriptors(const Model& model, const Family& family) {
  const CompiledPrograms compiled(model, family);
  Writer body;
  for (const Operator& op : family.operators) {
    if (!has_descriptor(op)) continue;
    body.gap();
    body.line("// {}  {}", op.base.name, op.source);
    switch (op.kind()) {
      case OperatorKind::kReduce: reduce(body, op, compiled); break;
      case OperatorKind::kScan: scan(body, op, compiled); break;
      default:
        emit_pointwise_op(body, op.base.id, pointwise_parts(op), compiled);
    }
    node(body, op);
  }
  Writer w;
  w.raw(banner(family));
  body.include(fmt::format("aten/ops/{}_desc.h", family.name));
  includes(w, body.headers());
  if (body.str().empty()) return w.str();
  open_namespace(w, "sy::desc");
  w.gap();
  emit_program_names(w);
  w.raw(body.str());
  close_namespace(w, "sy::desc");
  return w.str();
}

}  // namespace sy::codegen
