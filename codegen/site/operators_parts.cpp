#include "codegen/site/operators_parts.h"

#include <algorithm>

#include "codegen/emit/describe.h"
#include "codegen/model_names.h"
#include "codegen/site/operators_html.h"
#include "codegen/site/operators_words.h"
#include "codegen/site/pictures.h"
#include "codegen/text.h"
#include "codegen/tools/markup.h"
#include "lang/parser.h"
#include "model/derivative.h"

namespace sy::codegen::site {
namespace {

using lang::OperatorKind;

std::string_view form_name(const Operator& op, const Overload& o) {
  switch (o.schema.kind()) {
    case SchemaKind::kFunctional: return "functional";
    case SchemaKind::kInplace: return "in place";
    case SchemaKind::kOut: return "out";
    case SchemaKind::kMutable: return &o == &op.base ? "writes" : "out";
  }
  return "";
}

std::string row(std::string_view head, const std::string& html) {
  if (html.empty()) return "";
  return fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", head, html);
}

std::string rows(const std::string& html) {
  if (html.empty()) return "";
  return "<table class=\"args\"><tbody>\n" + html + "</tbody></table>\n";
}

// A formula as HTML: a short one within the line, others laid out on lines of
// their own.
std::string formula_html(const lang::Expr& e) {
  const std::string text = laid_out(e);
  if (text.size() <= 60) return code_html(text);
  return "<div class=\"formula\">" + markup_text(text) + "</div>";
}

std::string list_html(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& i : items) {
    append(out, "<li>{}</li>\n", inline_html(i));
  }
  return out.empty() ? "" : "<ul>\n" + out + "</ul>\n";
}

// The call and, behind it, the error that it throws, as comments.
std::string error_code(const ExpectedError& e) {
  std::string call = e.call;
  if (!call.ends_with(';')) call += ';';
  return wrap(call) + '\n' +
         comment(e.type.empty() ? e.text : e.type + ": " + e.text);
}

std::string output_html(const std::string& output) {
  if (output.empty()) return "";
  return "<pre class=\"output\"><code class=\"language-text\">" +
         markup_text(output) + "</code></pre>\n";
}

std::string sizes_words(const Operator& op) {
  const auto tensors = op.tensor_arguments();
  if (op.kind() == OperatorKind::kPointwise && tensors.size() == 1) {
    return fmt::format("that of `{}`", tensors[0]->name.view());
  }
  return shape_text(op);
}

std::string tag_words(const Operator& op) {
  std::vector<std::string> out;
  if (op.kind() == OperatorKind::kView) {
    out.emplace_back("It shares the memory of its argument.");
  } else if (op.has_tag("maybe_aliasing_or_mutating")) {
    out.emplace_back("It may share the memory of its argument.");
  }
  if (op.has_tag("dynamic_output_shape")) {
    out.emplace_back("Its sizes depend on the values in the tensors.");
  }
  if (op.has_tag("nondeterministic_seeded")) {
    out.emplace_back(
        "It draws random numbers, if asked to; the same state of the generator "
        "gives the same result.");
  }
  return join(out, " ");
}

// A printed expression.
std::string formula_html(const std::string& text) {
  try {
    return formula_html(lang::parse(text));
  } catch (const lang::LangError&) {
    return code_html(text);
  }
}

}  // namespace

const Family& PageContext::family(const Operator& op) const {
  for (const Family& f : model.families()) {
    if (f.name == op.family && f.ns == op.ns) return f;
  }
  return *model.find_family(op.family);
}
OperatorParts::OperatorParts(const PageContext& context, const Operator& op,
                             int level, std::string id)
    : context_(context),
      op_(op),
      facts_(context.names.facts(op)),
      level_(level),
      id_(std::move(id)) {}

std::string OperatorParts::head(const std::string& id,
                                std::string_view title) const {
  return heading_html(level_, id_ + id, title);
}

std::string OperatorParts::signature() const {
  std::string code;
  for (const ApiCall& c : api_calls(op_)) {
    // Laid out as a declaration, which ends so.
    code += wrap(c.declaration + ';') + '\n';
  }
  if (code.empty()) return "";
  return block_html("cpp", code);
}

std::string example_html(const OperatorFacts* facts) {
  if (!facts || facts->example.call.empty()) return "";
  std::string code;
  for (const std::string& l : facts->example.lines) code += wrap(l) + '\n';
  code = block_html("cpp", code + wrap(facts->example.call) + '\n');
  const std::string output = output_html(facts->example.output);
  if (output.empty()) return code;
  return "<div class=\"example\">" + code + output + "</div>\n";
}

std::string curves_html(const std::string& name, const OperatorFacts* facts) {
  if (!facts) return "";
  const bool derived =
      std::any_of(facts->curves.begin(), facts->curves.end(),
                  [](const Curve& c) { return !c.dy.empty(); });
  return figure_html(curves_svg(name, *facts),
                     fmt::format("Over `{}`{}", facts->axis,
                                 derived ? "; dashed, the derivative." : "."));
}

std::string error_calls_html(const OperatorFacts* facts) {
  if (!facts) return "";
  std::string code;
  for (const ExpectedError& e : facts->errors) {
    code += (code.empty() ? "" : "\n") + error_code(e);
  }
  return code.empty() ? "" : block_html("cpp", code);
}

std::string OperatorParts::example() const {
  std::string html = example_html(facts_);
  if (html.empty()) {
    if (const auto call = example_call(op_)) {
      html = block_html("cpp", wrap(call->call) + '\n');
    }
  }
  html += curves_html(context_.names.of(op_).name, facts_);
  return html.empty() ? "" : head("example", "Example") + html;
}

std::string OperatorParts::arguments() const {
  const auto args = op_.base.schema.arguments();
  if (args.empty()) return "";
  std::vector<std::string> defaults, words;
  for (const Argument& a : args) {
    const std::string text = default_words(a);
    defaults.push_back(text.empty() || text == "none" ? text : code_html(text));
    words.push_back(inline_html(join(argument_words(op_, a), "; ")));
  }
  // Columns that say something.
  const auto any = [](const std::vector<std::string>& column) {
    return std::any_of(column.begin(), column.end(),
                       [](const std::string& s) { return !s.empty(); });
  };
  const bool has_defaults = any(defaults), has_words = any(words);
  std::string out = head("arguments", "Arguments");
  append(out,
         "<table class=\"args\"><thead><tr><th>Name</th><th>Type</th>{}{}"
         "</tr></thead><tbody>\n",
         has_defaults ? "<th>Default</th>" : "",
         has_words ? "<th>Meaning</th>" : "");
  for (std::size_t i = 0; i < args.size(); ++i) {
    append(out, "<tr><td>{}</td><td>{}</td>", code_html(args[i].name.view()),
           markup_text(type_words(args[i].type)));
    if (has_defaults) append(out, "<td>{}</td>", defaults[i]);
    if (has_words) append(out, "<td>{}</td>", words[i]);
    out += "</tr>\n";
  }
  return out + "</tbody></table>\n";
}

std::string OperatorParts::result() const {
  const FunctionSchema& s = op_.base.schema;
  std::string out =
      row("Returns", s.is_functional() ? inline_html(result_words(s)) : "");
  // The sizes and dtype of a composite are those of its expression, which tells
  // nothing.
  if (op_.kind() != OperatorKind::kComposite) {
    out += row("Sizes", inline_html(sizes_words(op_)));
    out += row("Dtype", inline_html(promotion_text(op_)));
  }
  out += row("Note", inline_html(tag_words(op_)));
  return out.empty() ? "" : head("result", "Result") + rows(out);
}

std::string OperatorParts::errors() const {
  std::string out = list_html(joint_requirements(op_));
  if (!out.empty()) out = "<p>It requires</p>\n" + out;
  out += error_calls_html(facts_);
  return out.empty() ? "" : head("errors", "Errors") + out;
}

namespace {

// The behaviour of a call whose arguments require a gradient that nobody can
// give.
const char* without_gradient(const Operator& op) {
  if (!op.entry->derivative.empty()) return "A gradient stops here.";
  return is_composite(op) ? "" : "Backward through it throws.";
}

}  // namespace

std::string OperatorParts::gradient() const {
  if (op_.tensor_arguments().empty()) return "";
  std::string out = head("gradient", "Gradient");
  if (const auto& why = op_.entry->no_derivative) {
    return out + fmt::format("<p>None, because {}. {}</p>\n",
                             inline_html(why->str()), without_gradient(op_));
  }
  if (is_composite(op_)) {
    return out + "<p>By the operators that it calls.</p>\n";
  }
  const auto all = derivative_texts(context_.model, op_);
  if (all.empty()) {
    lang::Diagnostics quiet;
    const bool never =
        plan_derivative(context_.model, op_, quiet).non_differentiable;
    return out + (never ? "<p>None: the result is not differentiable.</p>\n"
                        : "<p>None: a gradient stops here.</p>\n");
  }
  std::string table;
  bool grad = false, result = false;
  for (const auto& [name, text] : all) {
    const bool words = text.empty() || text.starts_with("grad at ");
    grad |= !words;
    result |= !words && text.find("result") != text.npos;
    table += row(code_html("by " + name.str()), text.empty() ? "none"
                                                : words      ? markup_text(text)
                                                        : formula_html(text));
  }
  out += rows(table);
  if (!grad) return out;
  return out + fmt::format(
                   "<p class=\"small\"><code>grad</code> is the gradient of "
                   "the result{}.</p>\n",
                   result ? ", <code>result</code> the result itself" : "");
}

std::string OperatorParts::computation() const {
  const lang::OperatorEntry& e = *op_.entry;
  std::string table;
  for (const auto& [title, text] : meaning_texts(op_)) {
    std::string html = inline_html(text);
    if (e.composite) html = formula_html(e.composite->expr);
    if (e.pointwise && e.pointwise->results.size() == 1) {
      html = formula_html(e.pointwise->results[0].expr);
    }
    table += row(title, html);
  }
  const NamedOperators& name = context_.names.of(op_);
  if (e.composite) {
    table += row("Calls", links_html(name.path, name.made_of));
  }
  std::string out = rows(table);
  out += figure_html(flow(), "What goes where.");
  const std::string calls =
      composition_svg(context_.model, op_, context_.families);
  const bool branches = calls.find("stroke-dasharray") != calls.npos;
  out += figure_html(calls, branches ? "What calls what; dashed: otherwise."
                                     : "What calls what.");
  if (out.empty()) return "";
  return head("computation", "How it is computed") + out;
}

std::string OperatorParts::flow() const {
  std::string picture = flow_svg(context_.model, op_);
  if (!picture.empty() || !facts_) return picture;
  const auto found = facts_->flows.find(op_.base.name);
  return found == facts_->flows.end() ? "" : flow_picture(found->second);
}

std::string OperatorParts::forms() const {
  std::string table;
  for (const Overload* o : op_.overloads()) {
    std::vector<std::string> ways;
    for (const ApiCall& c : api_calls(op_)) {
      if (c.id == o->id) ways.emplace_back("function");
      if (c.id == o->id + "_method") ways.emplace_back("method");
    }
    append(table, "<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n",
           form_name(op_, *o), join(ways, ", "),
           code_html(to_string(o->schema)));
  }
  return head("forms", "Forms") +
         "<table class=\"args\"><thead><tr><th>Form</th><th>In C++</th>"
         "<th>Schema</th></tr></thead><tbody>\n" +
         table + "</tbody></table>\n";
}

// The place of a hand-written kernel, as schemas/README.md says: the family's
// file, or one of those that it was split into.
std::string OperatorParts::kernel_file(const lang::DispatchItem& d) const {
  std::string folder;
  if (is_alias_key(d.key.str())) folder = "aten/composite";
  for (const Backend& b : context_.model.backends()) {
    if (b.key.str() == d.key.str()) folder = b.folder;
  }
  if (folder.empty() || op_.ns != "aten") return "";
  return fmt::format(" in `{}/{}*.cpp`", folder, op_.family);
}

std::string OperatorParts::kernels() const {
  std::string out;
  for (auto [key, text] : kernel_texts(context_.model, op_)) {
    for (const lang::DispatchItem& d : op_.entry->dispatch) {
      if (text.ends_with("::" + d.kernel.str() + '`') &&
          (d.key.str() == key || is_alias_key(d.key.str()))) {
        text += kernel_file(d);
        break;
      }
    }
    out += row(markup_text(key), inline_html(text));
  }
  return rows(out);
}

std::string OperatorParts::definition() const {
  const std::string_view text = context_.model.text(context_.family(op_));
  const std::string code =
      block_html("yaml", entry_lines(text, op_)) + kernels();
  if (level_ == 2) {
    return head("definition", "Definition") + "<p>" + code_html(op_.source) +
           "</p>\n" + code;
  }
  return fmt::format(
      "<details class=\"more\"><summary>Definition: {}</summary>\n{}"
      "</details>\n",
      code_html(op_.source), code);
}

}  // namespace sy::codegen::site
