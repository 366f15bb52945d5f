#include "codegen/site/operators_html.h"

#include "codegen/site/highlight.h"
#include "codegen/text.h"
#include "codegen/tools/markup.h"

namespace sy::codegen::site {
namespace {

using lang::Expr;
using lang::NodeKind;

constexpr std::size_t kColumns = 72;

// The expression's text before that of its last child.
std::string before_last(const std::string& whole, const std::string& last) {
  return whole.substr(0, whole.size() - last.size());
}

std::string trimmed(std::string text) {
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

// An `else` branch that is an `if` too goes on in the same line.
std::string laid_out_if(const Expr& e, const std::string& whole,
                        std::size_t indent) {
  const std::string margin(indent, ' ');
  const Expr& other = e->children[2];
  const std::string then = to_string(e->children[1]);
  std::string head = before_last(whole, to_string(other));
  const std::string tail = then + " else ";
  if (head.ends_with(tail)) {
    head = trimmed(before_last(head, tail));
    head += '\n' + margin + "  " + laid_out(e->children[1], indent + 2) + '\n' +
            margin + "else ";
  }
  if (other->kind == NodeKind::kIf) return head + laid_out(other, indent);
  return trimmed(head) + '\n' + margin + "  " + laid_out(other, indent + 2);
}

}  // namespace

std::string inline_html(std::string_view text) {
  std::string out;
  for (;;) {
    const std::size_t begin = text.find('`');
    const std::size_t end =
        begin == text.npos ? text.npos : text.find('`', begin + 1);
    if (end == text.npos) return out + markup_text(text);
    out += markup_text(text.substr(0, begin)) +
           code_html(text.substr(begin + 1, end - begin - 1));
    text.remove_prefix(end + 1);
  }
}

std::string code_html(std::string_view text) {
  return "<code>" + markup_text(text) + "</code>";
}

std::string block_html(std::string_view language, std::string_view code) {
  return fmt::format("<pre><code class=\"language-{}\">{}</code></pre>\n",
                     language, highlighted(language, code));
}

std::string link_html(const std::string& href, std::string_view text) {
  return fmt::format("<a href=\"{}\">{}</a>", markup_text(href),
                     markup_text(text));
}

std::string heading_html(int level, const std::string& id,
                         std::string_view title) {
  return fmt::format("<h{0} id=\"{1}\">{2}</h{0}>\n", level, markup_text(id),
                     markup_text(title));
}

std::string tag_html(std::string_view text, std::string_view title) {
  if (title.empty()) {
    return fmt::format(" <span class=\"tag\">{}</span>", markup_text(text));
  }
  return fmt::format(" <span class=\"tag\" title=\"{}\">{}</span>",
                     markup_text(title), markup_text(text));
}

std::string figure_html(const std::string& svg, std::string_view caption) {
  if (svg.empty()) return "";
  return fmt::format(
      "<figure class=\"picture\">{}<figcaption>{}</figcaption></figure>\n", svg,
      inline_html(caption));
}

std::string laid_out(const Expr& e, std::size_t indent) {
  const std::string whole = to_string(e);
  if (indent + whole.size() <= kColumns) return whole;
  if (e->kind == NodeKind::kIf) return laid_out_if(e, whole, indent);
  if (e->kind != NodeKind::kLet) return whole;
  const Expr& body = e->children[1];
  return trimmed(before_last(whole, to_string(body))) + '\n' +
         std::string(indent, ' ') + laid_out(body, indent);
}

std::string time_text(double nanoseconds) {
  constexpr std::pair<const char*, double> kUnits[] = {
      {"ns", 1}, {"µs", 1e3}, {"ms", 1e6}};
  for (const auto& [unit, size] : kUnits) {
    const double v = nanoseconds / size;
    if (v >= 1000 && size < 1e6) continue;
    return v < 100 ? fmt::format("{:.3g} {}", v, unit)
                   : fmt::format("{:.0f} {}", v, unit);
  }
  return "";
}

}  // namespace sy::codegen::site
