#include "codegen/site/frame.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>

#include "codegen/tools/markup.h"
#include "lang/format.h"

namespace sy::codegen::site {
namespace {

using lang::append;

struct Heading {
  int level;
  std::string id, html;
};

// HTML without its tags.
std::string without_tags(std::string_view html) {
  std::string out;
  bool tag = false;
  for (const char c : html) {
    if (c == '<') tag = true;
    if (!tag) out += c;
    if (c == '>') tag = false;
  }
  return out;
}

std::string attribute(std::string_view tag, std::string_view name) {
  const std::string before = fmt::format(" {}=\"", name);
  const std::size_t at = tag.find(before);
  if (at == tag.npos) return {};
  const std::size_t begin = at + before.size();
  return std::string(tag.substr(begin, tag.find('"', begin) - begin));
}

std::string id_of(std::string_view html) {
  std::string out;
  for (const char c : without_tags(html)) {
    const unsigned char u = static_cast<unsigned char>(c);
    if (std::isalnum(u)) out += static_cast<char>(std::tolower(u));
    if (!std::isalnum(u) && !out.empty() && out.back() != '-') out += '-';
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out;
}

// Whether the text after `before` is part of a link: the heading of a card.
bool inside_link(std::string_view before) {
  const std::size_t open = before.rfind("<a ");
  return open != before.npos && before.find("</a>", open) == before.npos;
}

// The body with an id and a link at each <h2> and <h3>, which are gathered.
std::string with_links(std::string_view body, std::vector<Heading>& headings) {
  std::string out;
  std::set<std::string> ids;
  for (;;) {
    const std::size_t begin = std::min(body.find("<h2"), body.find("<h3"));
    const std::size_t open = body.find('>', begin);
    if (begin == body.npos || open == body.npos) break;
    const std::string end = fmt::format("</h{}>", body[begin + 2]);
    const std::size_t close = body.find(end, open);
    if (close == body.npos) break;
    const std::string_view tag = body.substr(begin, open - begin);
    const std::string_view text = body.substr(open + 1, close - open - 1);
    Heading h = {body[begin + 2] - '0', attribute(tag, "id"),
                 without_tags(text)};
    out += body.substr(0, begin);
    out += tag;
    if (inside_link(out)) {
      append(out, ">{}{}", text, end);
    } else {
      if (h.id.empty()) {
        h.id = id_of(text);
        for (int n = 2; ids.count(h.id); ++n) {
          h.id = fmt::format("{}-{}", id_of(text), n);
        }
        append(out, " id=\"{}\"", h.id);
      }
      ids.insert(h.id);
      append(out, ">{}", text);
      if (text.find(fmt::format("href=\"#{}\"", h.id)) == text.npos) {
        append(out,
               " <a class=\"permalink\" href=\"#{}\" aria-label=\"Link to this "
               "section\">#</a>",
               h.id);
      }
      out += end;
      headings.push_back(std::move(h));
    }
    body.remove_prefix(close + end.size());
  }
  return out.append(body);
}

class Frame {
 public:
  Frame(const Navigation& navigation, const Page& page, const Around& around)
      : nav_(navigation), page_(page), around_(around) {}

  std::string run() {
    std::vector<Heading> headings;
    const std::string body = with_links(page_.body, headings);
    // "On this page" is worth it from two headings on.
    if (headings.size() < 2) headings.clear();
    head(headings.empty());
    top();
    out_ += "<div class=\"columns\">\n";
    side();
    append(out_, "<main id=\"content\" tabindex=\"-1\">\n{}", crumbs());
    out_ += body;
    around();
    out_ += "</main>\n";
    places(headings);
    out_ += "</div>\n</body>\n</html>\n";
    return std::move(out_);
  }

 private:
  std::string to(const std::string& path) const {
    return markup_text(link(page_.path, path));
  }

  std::string item(const NavLink& l) const {
    return fmt::format("<a href=\"{}\"{}>{}</a>", to(l.path),
                       l.path == page_.path ? " aria-current=\"page\"" : "",
                       markup_text(l.title));
  }

  void head(bool wide) {
    const bool start = page_.path == "index.html";
    const NavFamily* f = family();
    // An operator may have the name of its family.
    const bool of_family = f != nullptr && f->family.path == page_.path;
    append(out_, R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{}{}</title>
)",
           markup_text(page_.title),
           start
               ? ""
               : (of_family ? " (family) · " : " · ") + markup_text(nav_.name));
    if (!page_.summary.empty()) {
      append(out_, "<meta name=\"description\" content=\"{}\">\n",
             markup_text(page_.summary));
    }
    append(out_, R"(<link rel="icon" href="{0}assets/icon.svg">
<link rel="stylesheet" href="{0}assets/site.css">
<script>try {{
document.documentElement.dataset.theme = localStorage.getItem("theme") || "auto";
}} catch {{}}</script>
<script src="{0}assets/site.js" defer></script>
</head>
<body{1} data-root="{0}">
)",
           to(""),
           start  ? " class=\"start wide\""
           : wide ? " class=\"wide\""
                  : "");
  }

  void top() {
    append(out_, R"(<a class="skip" href="#content">Skip to the text</a>
<header class="top">
<a class="menu" href="#nav" aria-label="All pages">
<svg viewBox="0 0 20 20" aria-hidden="true"><path d="M2 5h16M2 10h16M2 15h16"/></svg></a>
<a class="home" href="{}">
<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M3 17H21M3 17C11 17 12 7 21 7"/></svg>
<span>{}</span></a>
<form class="search" role="search" action="{}">
<input type="search" aria-label="Search" placeholder="Search" autocomplete="off" spellcheck="false">
<kbd aria-hidden="true">/</kbd>
</form>
<a class="all" href="{}">Operators</a>
<button class="theme" type="button" hidden></button>
</header>
)",
           to("index.html"), markup_text(nav_.name), to("operators.html"),
           to("operators.html"));
  }

  void side() {
    out_ +=
        "<nav id=\"nav\" class=\"side\" aria-label=\"All pages\">\n"
        "<a class=\"close\" href=\"#\">Close</a>\n";
    for (const NavSection& s : nav_.guides) {
      append(out_, "<p class=\"head\">{}</p>\n<ul>\n", markup_text(s.title));
      for (const NavLink& l : s.links) {
        append(out_, "<li>{}</li>\n", item(l));
      }
      out_ += "</ul>\n";
    }
    append(out_, "<p class=\"head\">Operators</p>\n<ul>\n<li>{}</li>\n</ul>\n",
           item({"operators.html", "All operators by name"}));
    const bool open = nav_.guides.empty() || page_.place == "operators";
    append(out_, "<details{}><summary>{} families</summary>\n<ul>\n",
           open ? " open" : "", nav_.families.size());
    for (const NavFamily& f : nav_.families) {
      append(out_, "<li>{}", item(f.family));
      if (&f == family()) {
        out_ += "\n<ul>\n";
        for (const NavLink& l : f.operators) {
          append(out_, "<li>{}</li>\n", item(l));
        }
        out_ += "</ul>";
      }
      out_ += "</li>\n";
    }
    out_ += "</ul>\n</details>\n</nav>\n";
  }

  // The one that the page belongs to, or null.
  const NavFamily* family() const {
    for (const NavFamily& f : nav_.families) {
      if (f.family.path == page_.path) return &f;
      for (const NavLink& l : f.operators) {
        if (l.path == page_.path) return &f;
      }
    }
    return nullptr;
  }

  std::string crumbs() const {
    const NavFamily* f = family();
    if (f == nullptr) return {};
    const bool own = f->family.path == page_.path;
    return fmt::format(
        "<nav class=\"crumbs\" aria-label=\"Where this is\"><a "
        "href=\"{}\">Operators</a>{}</nav>\n",
        to("operators.html"), own ? "" : " › " + item(f->family));
  }

  void around() {
    if (!around_.before.path.empty() || !around_.after.path.empty()) {
      out_ += "<nav class=\"turn\" aria-label=\"Pages around\">\n";
      for (const auto& [l, rel, text] :
           {std::tuple(&around_.before, "prev", "Before"),
            std::tuple(&around_.after, "next", "Next")}) {
        if (l->path.empty()) continue;
        append(out_, "<a rel=\"{}\" href=\"{}\"><small>{}</small> {}</a>\n",
               rel, to(l->path), text, markup_text(l->title));
      }
      out_ += "</nav>\n";
    }
    if (!around_.source.empty()) {
      append(out_, "<footer>Made from <code>{}</code></footer>\n",
             markup_text(around_.source));
    }
  }

  void places(const std::vector<Heading>& headings) {
    if (headings.empty()) return;
    out_ +=
        "<nav class=\"places\" aria-label=\"On this page\">\n"
        "<p class=\"head\">On this page</p>\n<ul>\n";
    for (const Heading& h : headings) {
      append(out_, "<li class=\"h{}\"><a href=\"#{}\">{}</a></li>\n", h.level,
             h.id, h.html);
    }
    out_ += "</ul>\n</nav>\n";
  }

  const Navigation& nav_;
  const Page& page_;
  const Around& around_;
  std::string out_;
};

}  // namespace

std::string framed(const Navigation& navigation, const Page& page,
                   const Around& around) {
  return Frame(navigation, page, around).run();
}

}  // namespace sy::codegen::site
