#include "codegen/describe/describe.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "codegen/emit/describe.h"
#include "codegen/text.h"
#include "lang/parser.h"
#include "model/cpp_types.h"
#include "model/derivative.h"
#include "model/exact_out.h"

namespace sy::codegen {
namespace {

using Json = nlohmann::json;
using lang::OperatorKind;

std::string text(std::string_view s) { return std::string(s); }

// "pointwise", "composite", "kernel": a function under
// CompositeImplicitAutograd is a composite.
std::string kind_of(const Operator& op) {
  if (op.entry->is_foreach) return "foreach";
  if (op.kind() != OperatorKind::kDispatch) return text(to_string(op.kind()));
  return op.has_kernel("CompositeImplicitAutograd") ? "composite" : "kernel";
}

// Whether other operators alone have a use for it.
bool is_internal(const Operator& op) {
  const OperatorName& name = op.base.schema.name();
  const std::string plain = name.functional_name();
  return (plain.starts_with('_') && !name.is_dunder()) ||
         plain.ends_with("_backward");
}

// The comment that a schema file begins with, as one text.
std::string head_comment(std::string_view text) {
  std::string out;
  while (text.starts_with('#')) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(1, end - 1);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with(' ')) line.remove_prefix(1);
    if (line.starts_with("yaml-language-server:")) continue;
    if (!out.empty() && !line.empty()) out += ' ';
    out += line;
  }
  return out;
}

// The lines of an operator's entry, from `- func:` on, up to a line that is
// empty or begins another item.
std::string entry_lines(std::string_view text, const Operator& op) {
  std::size_t begin = 0;
  for (std::uint32_t line = 1; line < op.entry->at.line; ++line) {
    begin = text.find('\n', begin);
    if (begin == text.npos) return "";
    ++begin;
  }
  std::size_t end = begin;
  do {
    end = text.find('\n', end);
    if (end == text.npos) return std::string(text.substr(begin));
    ++end;
  } while (end < text.size() && text[end] == ' ');
  return std::string(text.substr(begin, end - begin));
}

// A printed expression, laid out.
std::string formula(const std::string& text) {
  try {
    return laid_out(lang::parse(text));
  } catch (const lang::LangError&) {
    return text;
  }
}

// Whether the dtype of the argument takes part in the result's.
bool promotes(const Operator& op, const Argument& a) {
  const auto& promote = op.entry->promote;
  if (!promote || promote->arguments.empty()) return true;
  return std::any_of(
      promote->arguments.begin(), promote->arguments.end(),
      [&](const lang::Text& t) { return t.str() == a.name.view(); });
}

Json argument(const Operator& op, const Argument& a) {
  Json out = {{"name", a.name.view()},        {"type", a.type.str()},
              {"default", nullptr},           {"written", a.is_write()},
              {"length", required_length(a)}, {"promotes", promotes(op, a)}};
  if (a.default_value) {
    out["default"] = a.default_value.is_none() ? "none" : default_text(a);
  }
  return out;
}

Json requirement(const Operator& op, const lang::Requirement& r) {
  Json names = Json::array();
  for (const Argument& a : op.base.schema.arguments()) {
    if (mentions(r.condition.expr, a.name.view())) {
      names.push_back(a.name.view());
    }
  }
  return {{"condition", to_string(r.condition.expr)},
          {"message", r.message.str()},
          {"arguments", names}};
}

std::string sizes_words(const Operator& op) {
  const auto tensors = op.tensor_arguments();
  if (op.kind() == OperatorKind::kPointwise && tensors.size() == 1) {
    return fmt::format("that of `{}`", tensors[0]->name.view());
  }
  return shape_text(op);
}

// The rows of the computation: ["Made of", text, formula or null].
Json meaning(const Operator& op) {
  const lang::OperatorEntry& e = *op.entry;
  Json out = Json::array();
  for (const auto& [title, words] : meaning_texts(op)) {
    Json expr;
    if (e.composite) expr = laid_out(e.composite->expr);
    if (e.pointwise && e.pointwise->results.size() == 1) {
      expr = laid_out(e.pointwise->results[0].expr);
    }
    out.push_back({title, words, expr});
  }
  return out;
}

bool has_own_gradient(const Operator& op) {
  const auto& all = op.entry->derivative;
  return std::any_of(all.begin(), all.end(), [](const auto& d) {
    return d.kind != lang::DerivativeItem::Kind::kNonDifferentiable;
  });
}

bool composes_gradient(const Operator& op) {
  const auto returns = op.base.schema.returns();
  return op.entry->derivative.empty() && !op.tensor_arguments().empty() &&
         std::any_of(returns.begin(), returns.end(),
                     [](const Return& r) { return r.type.is_tensor_like(); });
}

Json gradient(const Model& model, const Operator& op) {
  lang::Diagnostics quiet;
  const bool composite = is_composite(op);
  DerivativePlan plan;
  if (!composite) plan = plan_derivative(model, op, quiet);
  Json formulas = Json::array(), calls = Json::array();
  for (const auto& [name, words] : derivative_texts(model, op)) {
    const bool is_formula = !words.empty() && !words.starts_with("grad at ");
    formulas.push_back({{"argument", name.str()},
                        {"text", is_formula ? formula(words) : words},
                        {"is_formula", is_formula}});
  }
  for (const GradFormula& f : plan.formulas) {
    for (const std::string& o : f.operators) calls.push_back(o);
  }
  const auto& why = op.entry->no_derivative;
  return {{"exists", composite ? composes_gradient(op) : !plan.empty()},
          {"own", has_own_gradient(op)},
          {"composite", composite},
          {"never", plan.non_differentiable},
          {"none_because", why ? Json(why->str()) : Json()},
          {"stops", !op.entry->derivative.empty()},
          {"formulas", formulas},
          {"calls", calls}};
}

Json form(const Operator& op, const Overload& o) {
  Json ways = Json::array();
  for (const ApiCall& c : api_calls(op)) {
    if (c.id == o.id) ways.push_back("function");
    if (c.id == o.id + "_method") ways.push_back("method");
  }
  std::string kind;
  switch (o.schema.kind()) {
    case SchemaKind::kFunctional: kind = "functional"; break;
    case SchemaKind::kInplace: kind = "in place"; break;
    case SchemaKind::kOut: kind = "out"; break;
    case SchemaKind::kMutable: kind = &o == &op.base ? "writes" : "out"; break;
  }
  return {{"kind", kind},
          {"is_out", o.schema.is_out()},
          {"call", o.schema.name().name.view()},
          {"ways", ways},
          {"schema", to_string(o.schema)}};
}

// The place of a hand-written kernel, as schemas/README.md says: the family's
// file, or one of those that it was split into.
std::string kernel_place(const Model& model, const Operator& op,
                         const lang::DispatchItem& d) {
  std::string folder;
  if (is_alias_key(d.key.str())) folder = "aten/composite";
  for (const Backend& b : model.backends()) {
    if (b.key.str() == d.key.str()) folder = b.folder;
  }
  if (folder.empty() || op.ns != "aten") return "";
  return fmt::format(" in `{}/{}*.cpp`", folder, op.family);
}

Json kernels(const Model& model, const Operator& op) {
  Json out = Json::array();
  for (auto [key, words] : kernel_texts(model, op)) {
    for (const lang::DispatchItem& d : op.entry->dispatch) {
      if (words.ends_with("::" + d.kernel.str() + '`') &&
          (d.key.str() == key || is_alias_key(d.key.str()))) {
        words += kernel_place(model, op, d);
        break;
      }
    }
    out.push_back({key, words});
  }
  return out;
}

Json overload_names(const Operator& op) {
  Json out = Json::array();
  for (const Overload* o : op.overloads()) out.push_back(o->name);
  return out;
}

// The members that operators of other families have too.
Json named(const Operator& op) {
  return {{"name", op.base.name},
          {"namespace", op.ns},
          {"page", page_name(op)},
          {"call", op.base.schema.name().name.view()},
          {"functional", op.is_functional()},
          {"internal", is_internal(op)},
          {"overloads", overload_names(op)}};
}

Json described(const Model& model, const Family& family, const Operator& op) {
  const FunctionSchema& s = op.base.schema;
  Json arguments = Json::array(), returns = Json::array();
  Json requires_ = Json::array(), tensors = Json::array();
  Json tags = Json::array(), api = Json::array(), forms = Json::array();
  for (const Argument& a : s.arguments()) arguments.push_back(argument(op, a));
  for (const Return& r : s.returns()) {
    returns.push_back({{"name", r.name.view()}, {"type", r.type.str()}});
  }
  for (const auto& r : op.entry->require) {
    requires_.push_back(requirement(op, r));
  }
  for (const Argument* a : op.tensor_arguments()) {
    tensors.push_back(a->name.view());
  }
  for (const lang::Text& t : op.entry->tags) tags.push_back(t.str());
  // Laid out as declarations, which end so.
  for (const ApiCall& c : api_calls(op)) {
    api.push_back(wrap(c.declaration + ';'));
  }
  for (const Overload* o : op.overloads()) forms.push_back(form(op, *o));
  const auto example = example_call(op);
  // The sizes and dtype of a composite are those of its expression, which tells
  // nothing.
  const bool composite = op.kind() == OperatorKind::kComposite;

  Json out = named(op);
  out["doc"] = op.entry->doc;
  out["source"] = op.source;
  out["definition"] = entry_lines(model.text(family), op);
  out["kind"] = kind_of(op);
  out["out"] = s.is_out();
  out["method"] = op.entry->method_variant;
  out["api"] = api;
  out["example"] = example ? Json(wrap(example->call)) : Json();
  out["arguments"] = arguments;
  out["tensors"] = tensors;
  out["requires"] = requires_;
  out["returns"] = returns;
  out["sizes"] = composite ? "" : sizes_words(op);
  out["dtype"] = composite ? "" : promotion_text(op);
  out["tags"] = tags;
  out["gradient"] = gradient(model, op);
  out["meaning"] = meaning(op);
  out["composite"] = op.entry->composite.has_value();
  out["calls"] = op.entry->composite ? Json(composite_code(model, op).operators)
                                     : Json::array();
  out["flow"] = describe_flow(op);
  out["graph"] = describe_calls(model, op);
  out["forms"] = forms;
  out["kernels"] = kernels(model, op);
  return out;
}

}  // namespace

std::string page_name(const Operator& op) {
  const std::string ns = op.ns == "aten" ? "" : op.ns + '.';
  return ns + op.base.schema.name().functional_name();
}

Json describe(const Model& model, std::span<const Family> families) {
  Json all = Json::array(), others = Json::array();
  for (const Family& f : families) {
    Json operators = Json::array();
    for (const Operator& op : f.operators) {
      operators.push_back(described(model, f, op));
    }
    all.push_back({{"name", f.name},
                   {"namespace", f.ns},
                   {"path", f.path},
                   {"comment", head_comment(model.text(f))},
                   {"operators", operators}});
  }
  for (const Family& f : model.families()) {
    const bool known =
        std::any_of(families.begin(), families.end(),
                    [&](const Family& own) { return &own == &f; });
    if (known) continue;
    for (const Operator& op : f.operators) others.push_back(named(op));
  }
  return {{"version", 1}, {"families", all}, {"others", others}};
}

}  // namespace sy::codegen
