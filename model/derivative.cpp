#include "model/derivative.h"

#include <algorithm>
#include <array>
#include <set>

#include "lang/compile.h"
#include "lang/cpp_names.h"
#include "lang/diff.h"
#include "lang/format.h"
#include "lang/parser.h"
#include "model/cpp_types.h"

namespace sy::model {
namespace {

using lang::DerivativeItem;
using lang::Expr;
using lang::ExprKind;
using lang::OperatorKind;

// Methods of a tensor that do not read its elements.
constexpr std::array<std::string_view, 10> kMetadata = {
    "sizes", "size",   "dim",     "numel",         "scalar_type",
    "dtype", "device", "options", "is_contiguous", "is_floating_point"};

bool is_metadata(std::string_view method) {
  return std::find(kMetadata.begin(), kMetadata.end(), method) !=
         kMetadata.end();
}

// `name == None` or `name != None`.
bool asks_presence(const Expr& e, std::string_view name) {
  return e->kind == ExprKind::kBinary &&
         (e->op == lang::Op::kEq || e->op == lang::Op::kNe) &&
         ((lang::is_name(e->children[0], name) &&
           e->children[1]->kind == ExprKind::kNone) ||
          (lang::is_name(e->children[1], name) &&
           e->children[0]->kind == ExprKind::kNone));
}

// Whether `name` occurs as more than the receiver of such methods, and in
// questions whether it is there.
bool reads_elements(const Expr& e, std::string_view name) {
  if (lang::is_name(e, name)) return true;
  if (asks_presence(e, name)) return false;
  if (e->kind == ExprKind::kComprehension &&
      lang::is_name(e->children[1], name)) {
    // The comprehension names each tensor of a list.
    return reads_elements(e->children[0], e->name) ||
           (e->children.size() > 2 && reads_elements(e->children[2], e->name));
  }
  std::size_t first = 0;
  if (e->kind == ExprKind::kMethod && is_metadata(e->name) &&
      lang::is_name(e->children[0], name)) {
    first = 1;
  }
  for (std::size_t i = first; i < e->children.size(); ++i) {
    if (reads_elements(e->children[i], name)) return true;
  }
  return false;
}

// The literals k of grads[k].
void collect_results(const Expr& e, std::set<std::size_t>& out) {
  if (e->kind == ExprKind::kIndex && lang::is_name(e->children[0], "grads") &&
      lang::is_number(e->children[1])) {
    out.insert(static_cast<std::size_t>(e->children[1]->number.i));
    return;
  }
  for (const Expr& c : e->children) collect_results(c, out);
}

// Lists are kept whole, as far as there is a type for it.
bool can_be_kept(const Argument& a) {
  const Type t = a.type;
  const Type list = t.without_optional();
  if (!list.is_list() || list.is_tensor_like()) return true;
  const Type e = list.element();
  if (e == TypeKind::kInt || e == TypeKind::kSymInt) return true;
  if (t.is_optional()) return false;
  return e == TypeKind::kFloat || e == TypeKind::kScalar ||
         required_length(a) > 0;
}

// The value type a node keeps for a parameter of that type.
Saved saved_argument(const Argument& a, bool elements) {
  Saved s;
  s.name = std::string(a.name.view());
  s.cpp = parameter_name(a);
  const Type t = a.type;
  const Type e = t.without_optional();
  if (t == TypeKind::kTensor) {
    s.kind = elements ? Saved::kTensor : Saved::kMeta;
    s.type = elements ? "SavedTensor" : "SavedMeta";
  } else if (e == TypeKind::kTensor) {
    s.kind = elements ? Saved::kOptional : Saved::kOptionalMeta;
    s.type = elements ? "SavedTensor" : "std::optional<SavedMeta>";
  } else if (t.is_list() && t.element() == TypeKind::kTensor && !elements) {
    s.kind = Saved::kMetaList;
    s.type = "std::vector<SavedMeta>";
  } else if (t.is_tensor_like()) {
    s.kind = e.element().is_optional() ? Saved::kOptionalList : Saved::kList;
    s.type = "SavedTensorList";
  } else if (e.is_list() && (e.element() == TypeKind::kInt ||
                             e.element() == TypeKind::kSymInt)) {
    s.kind = t.is_optional() ? Saved::kOptionalInts : Saved::kInts;
    s.type = t.is_optional() ? "std::optional<SavedInts>" : "SavedInts";
  } else if (!t.is_optional() && t.is_list() &&
             (t.element() == TypeKind::kFloat ||
              t.element() == TypeKind::kScalar)) {
    s.kind = Saved::kNumbers;
    s.type = t.element() == TypeKind::kFloat ? "std::vector<double>"
                                             : "std::vector<Scalar>";
  } else if (!t.is_optional() && required_length(a) > 0) {
    s.kind = Saved::kBools;
    s.type = fmt::format("std::array<bool, {}>", required_length(a));
  } else if (e == TypeKind::kStr) {
    s.kind = t.is_optional() ? Saved::kOptionalString : Saved::kString;
    s.type = t.is_optional() ? "std::optional<std::string>" : "std::string";
  } else {
    s.kind = Saved::kValue;
    s.type = parameter_type(a);
    if (s.type.starts_with("const ")) {
      s.type = s.type.substr(6, s.type.size() - 7);
    }
  }
  return s;
}

class Planner {
 public:
  Planner(const Model& model, const Operator& op,
          lang::Diagnostics& diagnostics)
      : model_(model),
        op_(op),
        schema_(op.base.schema),
        diagnostics_(diagnostics) {}

  DerivativePlan run() {
    differentiable_arguments();
    for (const DerivativeItem& item : op_.entry->derivative) {
      if (item.kind == DerivativeItem::Kind::kNonDifferentiable) continue;
      add(item);
    }
    plan_.non_differentiable =
        plan_.formulas.empty() && !op_.entry->derivative.empty();
    std::sort(plan_.formulas.begin(), plan_.formulas.end(),
              [](const GradFormula& a, const GradFormula& b) {
                return a.targets < b.targets;
              });
    save();
    return std::move(plan_);
  }

 private:
  void differentiable_arguments() {
    for (std::size_t i = 0; i < schema_.arguments().size(); ++i) {
      const Argument& a = schema_.arguments()[i];
      const DerivativeItem* item = op_.entry->find_derivative(a.name.view());
      if (!item || item->kind == DerivativeItem::Kind::kNonDifferentiable) {
        continue;
      }
      if (!a.type.is_tensor_like()) {
        diagnostics_.error(item->at, "'{}' is no tensor and has no derivative",
                           a.name.view());
        continue;
      }
      plan_.arguments.push_back(i);
      plan_.has_lists |= a.type.without_optional().is_list();
    }
  }

  void add(const DerivativeItem& item) {
    GradFormula formula;
    std::vector<Type> types;
    for (const lang::Text& name : item.arguments) {
      const int index = schema_.argument_index(name.str());
      const auto at = std::find(plan_.arguments.begin(), plan_.arguments.end(),
                                static_cast<std::size_t>(index));
      if (at == plan_.arguments.end()) return;
      formula.targets.push_back(
          static_cast<std::size_t>(at - plan_.arguments.begin()));
      const Type t = schema_.arguments()[index].type;
      types.push_back(t.without_optional().is_list()
                          ? Type::list_of(TypeKind::kTensor)
                          : Type(TypeKind::kTensor));
    }
    Expr e;
    if (item.kind == DerivativeItem::Kind::kFormula) {
      e = item.formula.expr;
      // A choice between formulas is not a computation.
      if (e && op_.kind() == OperatorKind::kPointwise &&
          e->kind != ExprKind::kIf) {
        try_fuse(e, formula);
      }
    } else if (op_.kind() == OperatorKind::kView ||
               op_.has_tag("inplace_view")) {
      formula.by_geometry = true;
    } else {
      e = derive(item, formula);
    }
    if (formula.by_geometry) {
      plan_.formulas.push_back(std::move(formula));
      return;
    }
    if (!e) return;
    formula.expr = e;
    lang::Diagnostics errors;
    auto code = lang::compile_tensor(e, environment(), model_, types, errors);
    for (const lang::Diagnostic& d : errors.all()) {
      // An error in a derived formula has no place of its own.
      if (d.at.file.empty()) {
        diagnostics_.error(item.at,
                           "the derived formula '{}' does not work: {}",
                           lang::to_string(e), d.message);
      } else {
        diagnostics_.error(d.at, d.message);
      }
    }
    if (!code) return;
    formula.operators = code->operators;
    formula.code = std::move(*code);
    formula.names = lang::free_names(e);
    if (schema_.returns().size() > 1) {
      std::set<std::size_t> results;
      collect_results(e, results);
      formula.results.assign(results.begin(), results.end());
    }
    read(e, formula);
    plan_.formulas.push_back(std::move(formula));
  }

  // The derivative of the operator's own expression.
  Expr derive(const DerivativeItem& item, GradFormula& formula) {
    if (op_.kind() == OperatorKind::kReduce) return derive_reduce(item);
    const lang::DiffOptions options{"grad", "result"};
    const Expr e =
        lang::differentiate(op_.entry->pointwise->results[0].expr,
                            item.arguments[0].str(), options, diagnostics_);
    if (!e) return nullptr;
    try_fuse(e, formula);
    const Expr tensors =
        lang::element_to_tensor(e, lang::ElementEnv::of_derivative(schema_));
    // The expression does not depend on the argument.
    if (lang::is_number(tensors, 0)) return lang::parse("zeros_like(grad)");
    return tensors;
  }

  Expr derive_reduce(const DerivativeItem& item) {
    const lang::ReduceBody& body = *op_.entry->reduce;
    const auto fail = [&]() -> Expr {
      diagnostics_.error(item.at,
                         "no derivative is known for this reduction; "
                         "write the formula");
      return nullptr;
    };
    if (body.accumulators.size() != 1 ||
        !lang::is_name(body.accumulators[0].map.expr, "self")) {
      return fail();
    }
    const Expr& combine = body.accumulators[0].combine.expr;
    const auto is = [](const Expr& e, const char* text) {
      return lang::equal(e, lang::parse(text));
    };
    const std::string shown = fmt::format("({})", restored("grad"));
    if (is(combine, "a + b")) {
      const std::string sum = shown + ".expand(self.sizes())";
      if (body.finish.empty()) return lang::parse(sum);
      if (!is(body.finish[0].expr, "acc / n")) return fail();
      return lang::parse("(" + shown +
                         " / (self.numel() // max(result.numel(), 1)))"
                         ".expand(self.sizes())");
    }
    const bool extreme =
        is(combine, "maximum(a, b)") || is(combine, "minimum(a, b)");
    if (!extreme || !body.finish.empty()) return fail();
    // Equals share the gradient.
    const std::string dims = dim_argument();
    const std::string count =
        dims.empty() ? "hit.sum()" : fmt::format("hit.sum({}, True)", dims);
    return lang::parse(fmt::format("let hit = (self == {}) in {} * hit / {}",
                                   restored("result"), shown, count));
  }

  // A result with the reduced dims put back as ones.
  std::string restored(const std::string& name) const {
    const std::string dims = dim_argument();
    if (dims.empty()) return name;
    return fmt::format(
        "_restore_dims({}, self.dim(), {}, {})", name, dims,
        schema_.argument_index("keepdim") < 0 ? "False" : "keepdim");
  }

  std::string dim_argument() const {
    const int i = schema_.argument_index("dim");
    if (i < 0) return "";
    const Type t = schema_.arguments()[i].type.without_optional();
    return t.is_list() ? "dim" : "[dim]";
  }

  // One program instead of several operators.
  void try_fuse(const Expr& e, GradFormula& formula) const {
    const auto env = lang::ElementEnv::of_derivative(schema_);
    lang::Diagnostics quiet;
    if (!lang::check_element(e, env, quiet)) return;
    const Expr results[] = {e};
    const auto program =
        lang::compile_element(results, env, quiet, {.all_inputs = false});
    if (program && program->steps.size() >= 2) formula.fused = e;
  }

  lang::TensorEnv environment() const {
    lang::TensorEnv env = lang::TensorEnv::of(schema_);
    env.add("grad", TypeKind::kTensor);
    env.add("grads", Type::list_of(TypeKind::kTensor));
    if (schema_.returns().size() > 1) env.results = schema_.returns().size();
    for (std::size_t i = 0; i < schema_.returns().size(); ++i) {
      const std::string name = result_name(schema_, i);
      if (!env.find(name)) env.add(name, schema_.returns()[i].type);
    }
    return env;
  }

  // Collects the values that the node must keep for the formula.
  void read(const Expr& e, GradFormula& formula) {
    for (const std::string& name : formula.names) {
      if (name == "grads") plan_.uses_grads = true;
      const int argument = schema_.argument_index(name);
      if (argument >= 0) {
        const Argument& a = schema_.arguments()[argument];
        const bool elements = reads_elements(e, name);
        if (!elements && a.type == TypeKind::kTensor &&
            formula.targets.size() == 1 &&
            plan_.arguments[formula.targets[0]] ==
                static_cast<std::size_t>(argument)) {
          formula.own = name;
          continue;
        }
        if (!can_be_kept(a)) {
          diagnostics_.error(
              op_.entry->func.start(),
              "the formulas of 'derivative:' cannot keep '{}', {}", name,
              a.type.str());
          continue;
        }
        merge(saved_argument(a, elements), formula);
        continue;
      }
      for (std::size_t i = 0; i < schema_.returns().size(); ++i) {
        if (result_name(schema_, i) != name) continue;
        Saved s;
        s.name = name;
        s.cpp = lang::cpp_name(name);
        const bool elements = reads_elements(e, name);
        s.kind = elements ? Saved::kTensor : Saved::kMeta;
        s.type = elements ? "SavedTensor" : "SavedMeta";
        s.is_result = true;
        s.result = i;
        merge(std::move(s), formula);
      }
    }
  }

  void merge(Saved s, const GradFormula& formula) {
    auto known = std::find_if(found_.begin(), found_.end(),
                              [&](const Saved& k) { return k.name == s.name; });
    if (known == found_.end()) {
      found_.push_back(std::move(s));
      known = found_.end() - 1;
    } else if (known->kind == Saved::kMeta || known->kind == Saved::kMetaList ||
               known->kind == Saved::kOptionalMeta) {
      // The tensor itself knows its sizes too.
      known->kind = s.kind;
      known->type = s.type;
    }
    for (const std::size_t t : formula.targets) known->readers.push_back(t);
  }

  // Sorts the saved values: the schema's order, results last.
  void save() {
    for (const Argument& a : schema_.arguments()) {
      for (Saved& s : found_) {
        if (!s.is_result && s.name == a.name.view()) {
          plan_.saved.push_back(std::move(s));
          break;
        }
      }
    }
    for (Saved& s : found_) {
      if (s.is_result) plan_.saved.push_back(std::move(s));
    }
    for (Saved& s : plan_.saved) {
      std::sort(s.readers.begin(), s.readers.end());
      s.readers.erase(std::unique(s.readers.begin(), s.readers.end()),
                      s.readers.end());
    }
  }

  const Model& model_;
  const Operator& op_;
  const FunctionSchema& schema_;
  lang::Diagnostics& diagnostics_;
  DerivativePlan plan_;
  std::vector<Saved> found_;
};

}  // namespace

DerivativePlan plan_derivative(const Model& model, const Operator& op,
                               lang::Diagnostics& diagnostics) {
  return Planner(model, op, diagnostics).run();
}

std::string result_name(const FunctionSchema& schema, std::size_t i) {
  const Return& r = schema.returns()[i];
  if (!r.name.empty()) return std::string(r.name.view());
  return schema.returns().size() == 1 ? "result" : fmt::format("result{}", i);
}

}  // namespace sy::model
