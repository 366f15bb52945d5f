#include "codegen/site/operators_index.h"

#include <algorithm>

#include "codegen/site/operators.h"
#include "codegen/site/operators_html.h"
#include "codegen/site/operators_words.h"
#include "codegen/text.h"
#include "codegen/tools/markup.h"

namespace sy::codegen::site {
namespace {

using Group = std::vector<const NamedOperators*>;

// Hides the names that the text of the input does not fit, and groups that are
// then empty.
constexpr std::string_view kFilter = R"(<script>
{
  const input = document.getElementById("filter");
  const groups = [...document.querySelectorAll("dl.names > div")];
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const group of groups) {
      const family = group.firstElementChild.textContent.toLowerCase();
      let any = false;
      for (const a of group.querySelectorAll("dd a")) {
        const text = a.textContent + " " + family;
        a.hidden = !words.every((w) => text.includes(w));
        any ||= !a.hidden;
        count += !a.hidden;
      }
      group.hidden = !any;
      for (const d of group.querySelectorAll("details")) {
        d.hidden = ![...d.querySelectorAll("a")].some((a) => !a.hidden);
        d.open = words.length > 0;
      }
    }
    document.getElementById("count").textContent = count;
  };
  input.addEventListener("input", show);
  if (input.value) show();
}
</script>
)";

// The forms that exist beside the function.
struct Forms {
  bool method = false, inplace = false, out = false;
};

Forms forms_of(const NamedOperators& name) {
  Forms has;
  for (const Operator* op : name.operators) {
    has.method |= op->entry->method_variant;
    for (const Overload* o : op->overloads()) {
      has.inplace |= o->schema.is_inplace();
      has.out |= o->schema.is_out();
    }
  }
  return has;
}

std::pair<Group, Group> parted(const Group& names) {
  std::pair<Group, Group> out;
  for (const NamedOperators* n : names) {
    (n->internal ? out.second : out.first).push_back(n);
  }
  return out;
}

std::string table(const std::string& from, const Group& names) {
  std::string out =
      "<div class=\"scroll\"><table class=\"family\"><thead><tr>"
      "<th>Operator</th><th></th><th>Kind</th><th>Method</th><th>In place</th>"
      "<th>Out</th><th>Gradient</th></tr></thead><tbody>\n";
  for (const NamedOperators* n : names) {
    append(out, "<tr><td>{}</td><td>{}</td><td>{}</td>",
           link_html(link(from, n->path), n->name), markup_text(n->doc()),
           kind_name(n->first()));
    const Forms has = forms_of(*n);
    for (const bool yes :
         {has.method, has.inplace, has.out, n->is_differentiable}) {
      out += yes ? "<td>✓</td>" : "<td></td>";
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string folded(std::size_t count, const std::string& html) {
  return fmt::format(
      "<details class=\"more\"><summary>{} internal</summary>\n{}</details>\n",
      count, html);
}

// "12 operators: 8 pointwise, 4 kernel"
std::string counts(const Group& names) {
  std::vector<std::pair<std::string_view, int>> kinds;
  for (const NamedOperators* n : names) {
    const std::string_view kind = kind_name(n->first());
    const auto it =
        std::find_if(kinds.begin(), kinds.end(),
                     [&](const auto& k) { return k.first == kind; });
    if (it == kinds.end()) {
      kinds.emplace_back(kind, 1);
    } else {
      ++it->second;
    }
  }
  std::stable_sort(
      kinds.begin(), kinds.end(),
      [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (const auto& [kind, n] : kinds) {
    parts.push_back(fmt::format("{} {}", n, kind));
  }
  return fmt::format("{} operator{}: {}.", names.size(),
                     names.size() == 1 ? "" : "s", join(parts, ", "));
}

std::string about(const PageContext& context, const Family& family) {
  const std::string comment = head_comment(context.model.text(family));
  return comment.empty() ? counts(context.names.of(family)) : comment;
}

std::string names_html(const std::string& from, const Group& names) {
  std::string out;
  for (const NamedOperators* n : names) {
    out += link_html(link(from, n->path), n->name) + '\n';
  }
  return out;
}

}  // namespace

Page family_page(const PageContext& context, const Family& family) {
  Page out;
  out.path = family_path(family);
  out.title = family.is_own() ? family.ns + "::" + family.name : family.name;
  out.place = "operators";
  out.summary = about(context, family);
  const Group all = context.names.of(family);
  const auto [open, internal] = parted(all);
  out.body = fmt::format("<h1>{}</h1>\n<p class=\"lead\">{}</p>\n",
                         markup_text(out.title), inline_html(out.summary));
  const std::string count = counts(all);
  append(out.body, "<p class=\"where\">{}{}</p>\n",
         out.summary == count ? "" : count + ' ', code_html(family.path));
  if (!open.empty()) out.body += table(out.path, open);
  if (!internal.empty()) {
    out.body += folded(internal.size(), table(out.path, internal));
  }
  return out;
}

Page all_operators_page(const PageContext& context) {
  Page out;
  out.path = "operators.html";
  out.title = "Operators";
  out.place = "operators";
  const std::size_t count = context.names.all().size();
  const std::size_t families = context.families.size();
  const std::string rest =
      fmt::format("operator{} in {} {}.", count == 1 ? "" : "s", families,
                  families == 1 ? "family" : "families");
  out.summary = fmt::format("{} {}", count, rest);
  std::string groups;
  for (const Family& f : context.families) {
    const auto [open, internal] = parted(context.names.of(f));
    append(groups, "<div><dt>{}<small>{}</small></dt>\n<dd>{}",
           link_html(link(out.path, family_path(f)),
                     f.is_own() ? f.ns + "::" + f.name : f.name),
           inline_html(first_sentence(about(context, f)).first),
           names_html(out.path, open));
    if (!internal.empty()) {
      groups += folded(internal.size(), names_html(out.path, internal));
    }
    groups += "</dd></div>\n";
  }
  out.body = fmt::format(
      "<h1>Operators</h1>\n<p class=\"lead\"><span id=\"count\">{}</span> "
      "{}</p>\n"
      "<p><input id=\"filter\" type=\"search\" placeholder=\"Filter\" "
      "aria-label=\"Filter the names\" autocomplete=\"off\"></p>\n"
      "<dl class=\"names\">\n{}</dl>\n{}",
      count, rest, groups, kFilter);
  return out;
}

}  // namespace sy::codegen::site
