#include "codegen/emit/describe.h"

#include "codegen/model_names.h"
#include "codegen/text.h"
#include "lang/diff.h"
#include "model/derivative.h"

namespace sy::codegen {
namespace {

using lang::OperatorKind;

// The derivative of an operator's own expression, before it became calls of
// operators.
std::string derived(const Operator& op, const std::string& by) {
  lang::Diagnostics quiet;
  const lang::Expr e =
      lang::differentiate(op.entry->pointwise->results[0].expr, by,
                          {.grad = "grad", .result = "result"}, quiet);
  return e ? lang::to_string(e) : "";
}

std::string planned(const DerivativePlan& plan, int argument) {
  for (const GradFormula& f : plan.formulas) {
    for (const std::size_t t : f.targets) {
      if (static_cast<int>(plan.arguments[t]) != argument) continue;
      if (f.by_geometry) return "grad at the places of the view, 0 elsewhere";
      return lang::to_string(f.expr);
    }
  }
  return "";
}

std::string code(const lang::Formula& f) {
  return fmt::format("`{}`", lang::to_string(f.expr));
}

std::string list(const std::vector<lang::Formula>& formulas) {
  std::string out;
  for (const lang::Formula& f : formulas) {
    out += (out.empty() ? "" : ", ") + code(f);
  }
  return out;
}

}  // namespace

bool is_composite(const Operator& op) {
  return op.kind() == OperatorKind::kComposite ||
         op.has_kernel("CompositeImplicitAutograd");
}

std::vector<std::pair<std::string, std::string>> meaning_texts(
    const Operator& op) {
  const lang::OperatorEntry& e = *op.entry;
  std::vector<std::pair<std::string, std::string>> out;
  if (e.pointwise) out.emplace_back("Each element", list(e.pointwise->results));
  if (e.scan) {
    out.emplace_back(e.scan->chooses ? "The next, b, is taken in place of a if"
                                     : "With the next, b, a becomes",
                     code(e.scan->combine));
  }
  if (e.composite) {
    out.emplace_back(e.is_foreach ? "For each" : "Made of", code(*e.composite));
  }
  if (e.view && e.view->strides) {
    out.emplace_back("Strides", code(*e.view->strides));
  }
  if (e.view && e.view->offset) {
    out.emplace_back("Offset", code(*e.view->offset));
  }
  if (!e.reduce) return out;
  for (const lang::Accumulator& a : e.reduce->accumulators) {
    out.emplace_back(
        "Accumulator " + a.name,
        fmt::format("of an element {}, of two {}{}", code(a.map),
                    code(a.combine),
                    a.identity.expr ? ", of none " + code(a.identity) : ""));
  }
  for (const lang::Formula& f : e.reduce->finish) {
    out.emplace_back("Result", code(f));
  }
  return out;
}

std::string promotion_text(const Operator& op) {
  const lang::OperatorEntry& e = *op.entry;
  switch (op.kind()) {
    case OperatorKind::kPointwise:
    case OperatorKind::kReduce:
    case OperatorKind::kScan: break;
    case OperatorKind::kView: return "that of `self`";
    case OperatorKind::kComposite: return "that of the expression";
    case OperatorKind::kDispatch:
      if (!e.dtype.empty()) return list(e.dtype);
      return op.is_structured() ? "that of the first tensor" : "";
  }
  std::string of = op.kind() == OperatorKind::kPointwise
                       ? "the common one of the arguments"
                       : "that of `self`";
  if (e.promote && !e.promote->arguments.empty()) {
    of = e.promote->arguments.size() == 1 ? "that of " : "the common one of ";
    for (std::size_t i = 0; i < e.promote->arguments.size(); ++i) {
      append(of, "{}{}`", i ? ", `" : "`", e.promote->arguments[i].str());
    }
  }
  const std::string rule = e.promote ? e.promote->rule.str() : "default";
  if (rule == "int_to_float") {
    return of + "; the default dtype for integers and bool";
  }
  if (rule == "bool_to_int") return of + "; int64 for integers and bool";
  if (rule == "only_bool_to_int") return of + "; int64 for bool";
  if (rule == "same") return of + ", which must all be the same";
  return of;
}

std::string shape_text(const Operator& op) {
  const lang::OperatorEntry& e = *op.entry;
  switch (op.kind()) {
    case OperatorKind::kPointwise: return "that of the arguments, broadcast";
    case OperatorKind::kReduce:
      return op.base.schema.argument_index("dim") < 0
                 ? "no dims"
                 : "that of `self` without `dim`, or with 1 there if `keepdim`";
    case OperatorKind::kScan: return "that of `self`";
    case OperatorKind::kView: return list({e.view->sizes});
    case OperatorKind::kComposite: return "that of the expression";
    case OperatorKind::kDispatch: break;
  }
  return list(e.shape);
}

std::vector<std::pair<lang::Text, std::string>> derivative_texts(
    const Model& model, const Operator& op) {
  std::vector<std::pair<lang::Text, std::string>> out;
  if (is_composite(op)) return out;
  lang::Diagnostics quiet;
  const DerivativePlan plan = plan_derivative(model, op, quiet);
  for (const lang::DerivativeItem& d : op.entry->derivative) {
    for (const lang::Text& a : d.arguments) {
      std::string text;
      if (d.kind == lang::DerivativeItem::Kind::kFormula) {
        text = lang::to_string(d.formula.expr);
      } else if (d.kind == lang::DerivativeItem::Kind::kAuto) {
        text = op.entry->pointwise
                   ? derived(op, a.str())
                   : planned(plan, op.base.schema.argument_index(a.str()));
      }
      out.emplace_back(a, std::move(text));
    }
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> kernel_texts(
    const Model& model, const Operator& op) {
  std::vector<std::pair<std::string, std::string>> out;
  if (const auto engine = engine_of(op)) {
    for (const Backend& b : model.backends()) {
      if (!b.has_engine(*engine)) continue;
      out.emplace_back(
          b.key.str(),
          b.fills ? fmt::format("element program `desc::{}`", op.base.id)
                  : "sizes and dtype of the same");
    }
  }
  switch (op.kind()) {
    case OperatorKind::kComposite:
      out.emplace_back("every backend", "the operators of the expression");
      break;
    case OperatorKind::kView:
      out.emplace_back("every backend", "the geometry, without copying");
      break;
    default: break;
  }
  for (const lang::DispatchItem& d : op.entry->dispatch) {
    const std::string& key = d.key.str();
    out.emplace_back(
        is_alias_key(key) ? "every backend" : key,
        fmt::format("`{}{}`", kernel_namespace(model, key), d.kernel.str()));
  }
  for (const Backend& b : model.backends()) {
    if (op.is_structured() && !b.fills && !op.has_kernel(b.key.str())) {
      out.emplace_back(b.key.str(), "from `shape:`");
    }
  }
  return out;
}

std::optional<EngineKind> engine_of(const Operator& op) {
  switch (op.kind()) {
    case OperatorKind::kPointwise: return EngineKind::kPointwise;
    case OperatorKind::kReduce: return EngineKind::kReduce;
    case OperatorKind::kScan: return EngineKind::kScan;
    default: return std::nullopt;
  }
}

std::string kernel_namespace(const Model& model, std::string_view key) {
  if (is_alias_key(key)) return "sy::composite::";
  for (const Backend& b : model.backends()) {
    if (b.key.str() == key) return b.ns.str() + "::";
  }
  return "";
}

}  // namespace sy::codegen
