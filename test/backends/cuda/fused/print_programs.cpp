#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "codegen/emit/common.h"
#include "codegen/emit/programs.h"
#include "codegen/files.h"
#include "model/derivative.h"

// Prints programs_gen.cpp, the definition of fused_programs().
// Usage: print_programs SCHEMA... --out FILE

namespace sy::codegen {
namespace {

// `names` gets the names of what was printed.
void print_fused(Writer& w, const Model& model, const Operator& op,
                 const CompiledPrograms& compiled,
                 std::vector<std::string>& names,
                 lang::Diagnostics& diagnostics) {
  // A composite operator has no node, as in codegen/emit/autograd.cpp.
  if (op.kind() == lang::OperatorKind::kComposite ||
      op.has_kernel("CompositeImplicitAutograd")) {
    return;
  }
  for (const GradFormula& f :
       plan_derivative(model, op, diagnostics).formulas) {
    if (!f.fused) continue;
    w.gap();
    emit_pointwise_op(w, fmt::format("fused_{}", names.size()),
                      fused_parts(op, f), compiled);
    names.push_back(fmt::format("&fused_{}", names.size()));
  }
}

int run(const std::vector<std::string>& schemas, const std::string& out) {
  lang::Diagnostics diagnostics;
  const Model model = Model::load(schemas, diagnostics);
  const CompiledPrograms compiled(model);
  Writer body;
  std::vector<std::string> names;
  for (const Family& family : model.families()) {
    for (const Operator& op : family.operators) {
      print_fused(body, model, op, compiled, names, diagnostics);
    }
  }
  Writer w;
  std::set<std::string> headers = body.headers();
  headers.insert("test/backends/cuda/fused/programs.h");
  includes(w, headers);
  open_namespace(w, "sy::testing");
  open_namespace(w, "");
  emit_program_names(w);
  w.raw(body.str());
  close_namespace(w, "");
  w.gap();
  w.line("const std::vector<const PointwiseOp*>& fused_programs() {");
  w.list("  static const std::vector<const PointwiseOp*> list = {", names,
         "};");
  w.line("  return list;");
  w.line("}");
  close_namespace(w, "sy::testing");
  if (!diagnostics.empty()) std::cerr << diagnostics.str_with_sources() << "\n";
  return diagnostics.empty() && write_file({out, w.str()}, std::cerr) ? 0 : 1;
}

}  // namespace
}  // namespace sy::codegen

int main(int argc, char** argv) {
  std::vector<std::string> schemas(argv + 1, argv + argc);
  if (schemas.size() < 3 || schemas[schemas.size() - 2] != "--out") return 2;
  const std::string out = schemas.back();
  schemas.resize(schemas.size() - 2);
  return sy::codegen::run(schemas, out);
}
