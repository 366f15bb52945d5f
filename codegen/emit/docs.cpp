#include "codegen/emit/common.h"
#include "codegen/emit/emit.h"

namespace sy::codegen {

std::string emit_docs(const Model&, const Family& family) {
  Writer w;
  w.raw("# " + family.name + "\n\nFrom `" + family.path + "`.\n");
  for (const Operator& op : family.operators) {
    w.raw("\n## " + op.base.name + "\n\n");
    if (!op.entry->doc.empty()) w.raw(op.entry->doc + "\n\n");
    w.raw("```\n");
    for (const Overload* o : op.overloads()) {
      w.raw(to_string(o->schema) + '\n');
    }
    w.raw("```\n");
    const lang::OperatorEntry& e = *op.entry;
    if (e.pointwise) {
      w.raw("\nEach element: `" +
            lang::to_string(e.pointwise->results[0].expr) + "`\n");
    }
    if (e.composite) {
      w.raw(std::string(e.is_foreach ? "\nFor each: `" : "\nMade of: `") +
            lang::to_string(e.composite->expr) + "`\n");
    }
    for (const lang::DerivativeItem& d : e.derivative) {
      std::vector<std::string> names;
      for (const lang::Text& a : d.arguments) names.push_back(a.str());
      w.raw("\nDerivative by " + join(names, ", ") + ": ");
      switch (d.kind) {
        case lang::DerivativeItem::Kind::kAuto: w.raw("derived"); break;
        case lang::DerivativeItem::Kind::kNonDifferentiable:
          w.raw("none");
          break;
        case lang::DerivativeItem::Kind::kFormula:
          w.raw("`" + lang::to_string(d.formula.expr) + "`");
      }
      w.raw("\n");
    }
  }
  return w.str();
}

}  // namespace sy::codegen
