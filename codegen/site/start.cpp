#include "codegen/site/start.h"

#include <algorithm>
#include <set>

#include "codegen/site/highlight.h"
#include "codegen/site/operators.h"
#include "codegen/tools/markup.h"
#include "lang/format.h"

namespace sy::codegen::site {
namespace {

using lang::append;

struct Figures {
  std::size_t operators = 0, overloads = 0, families = 0, derivatives = 0;
};

// Whether it has a formula of its own, not that of the operators it calls.
bool has_derivative(const Operator& op) {
  const auto& all = op.entry->derivative;
  return std::any_of(all.begin(), all.end(), [](const auto& d) {
    return d.kind != lang::DerivativeItem::Kind::kNonDifferentiable;
  });
}

Figures figures_of(std::span<const Family> families) {
  Figures out;
  std::set<std::string> pages, with_derivative;
  for (const Family& f : families) {
    ++out.families;
    for (const Operator& op : f.operators) {
      const std::string path = operator_path(f, op);
      pages.insert(path);
      if (has_derivative(op)) with_derivative.insert(path);
      out.overloads += op.overloads().size();
    }
  }
  out.operators = pages.size();
  out.derivatives = with_derivative.size();
  return out;
}

std::string block(std::string_view language, std::string_view code) {
  return fmt::format(
      "<pre tabindex=\"0\"><code class=\"language-{}\">{}</code></pre>\n",
      language, highlighted(language, code));
}

void figures(const Figures& f, std::string& out) {
  out += "<dl class=\"figures\">\n";
  const std::pair<std::size_t, std::string_view> all[] = {
      {f.operators, f.operators == 1 ? "operator" : "operators"},
      {f.overloads, f.overloads == 1 ? "overload" : "overloads and forms"},
      {f.derivatives, "with a gradient of their own"},
      {f.families, f.families == 1 ? "family" : "families"}};
  for (const auto& [number, what] : all) {
    if (number == 0) continue;
    append(out, "<div><dt>{}</dt><dd>{}</dd></div>\n", what, number);
  }
  out += "</dl>\n";
}

}  // namespace

Page start_page(const std::string& name, std::span<const Family> families,
                const GuideList& guides) {
  const Figures numbers = figures_of(families);
  Page page = {"index.html", name, "", "start",
               guides.says.empty() ? "Operators: what they do." : guides.says};
  std::string& out = page.body;
  append(out, "<section class=\"hero\">\n<h1>{}</h1>\n", markup_text(name));
  if (!guides.says.empty()) {
    append(out, "<p class=\"lead\">{}</p>\n", markup_text(guides.says));
  }
  append(out,
         R"(<form class="search large" role="search" action="operators.html">
<input type="search" aria-label="Search operators{}" placeholder="Search {} operators{}" autocomplete="off" spellcheck="false">
<kbd aria-hidden="true">/</kbd>
</form>
</section>
)",
         guides.guides.empty() ? "" : " and guides", numbers.operators,
         guides.guides.empty() ? "" : " and guides");
  if (!guides.doors.empty()) {
    out += "<nav class=\"cards\" aria-label=\"Where to begin\">\n";
    for (const Door& d : guides.doors) {
      append(out, "<a class=\"card\" href=\"{}\"><h2>{}</h2><p>{}</p></a>\n",
             markup_text(d.target), markup_text(d.title),
             markup_text(d.sentence));
    }
    out += "</nav>\n";
  }
  if (!guides.program.empty()) {
    append(out,
           "<section class=\"first\" aria-label=\"A first program\">\n<div>\n"
           "<p class=\"head\">A first program</p>\n{}</div>\n<div>\n"
           "<p class=\"head\">What it prints</p>\n{}</div>\n</section>\n",
           block("cpp", guides.program), block("text", guides.output));
  }
  figures(numbers, out);
  if (guides.guides.empty()) {
    out += "<h2>Families</h2>\n<ul class=\"columns3\">\n";
    for (const Family& f : families) {
      append(out, "<li><a href=\"{}\">{}</a></li>\n",
             markup_text(family_path(f)), markup_text(f.name));
    }
    out += "</ul>\n";
  }
  return page;
}

}  // namespace sy::codegen::site
