#include "codegen/site/guides.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "codegen/tools/markup.h"
#include "lang/format.h"
#include "lang/yaml.h"

namespace sy::codegen::site {
namespace {

namespace fs = std::filesystem;

std::string normal(const fs::path& path) {
  return path.lexically_normal().generic_string();
}

// "guides/contributing.html" of "docs/../CONTRIBUTING.md"
std::string guide_path(const std::string& file) {
  std::string stem = fs::path(file).stem().string();
  std::transform(stem.begin(), stem.end(), stem.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return "guides/" + stem + ".html";
}

// "README.md" of "x/docs/../README.md", the root being "x".
std::string source_of(const std::string& root, const std::string& file) {
  return normal(fs::absolute(file).lexically_normal().lexically_relative(root));
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\r'))
    s.remove_suffix(1);
  return s;
}

// "a: b: c" as "a" and "b: c"; false if there is no ": ".
bool split(std::string_view text, std::string_view& head,
           std::string_view& tail) {
  const std::size_t colon = text.find(": ");
  if (colon == text.npos) return false;
  head = trimmed(text.substr(0, colon));
  tail = trimmed(text.substr(colon + 2));
  return !head.empty() && !tail.empty();
}

class ListReader {
 public:
  ListReader(const std::string& folder, lang::Diagnostics& diagnostics)
      : folder_(folder),
        path_(folder + "/guides.txt"),
        file_(path_),
        diagnostics_(diagnostics) {}

  GuideList run() {
    if (!fs::is_directory(folder_)) {
      diagnostics_.error({InternedString(folder_), 0, 0},
                         "is no folder of guides");
      return {};
    }
    const fs::path top = fs::absolute(folder_).lexically_normal();
    list_.root = top.parent_path().string();
    if (!fs::exists(path_)) return by_name();
    const std::string text = lang::read_file(path_, diagnostics_);
    diagnostics_.add_source(path_, text);
    std::istringstream in(text);
    for (std::string l; std::getline(in, l);) {
      ++line_;
      if (const auto s = trimmed(l); !s.empty() && s[0] != '#') line(s);
    }
    for (Door& d : list_.doors) d.target = target(d);
    complete();
    return std::move(list_);
  }

 private:
  lang::Location here() const { return {file_, line_, 1}; }

  std::vector<std::string> found() const {
    std::vector<std::string> out;
    for (const auto& e : fs::directory_iterator(folder_)) {
      if (e.path().extension() == ".md") {
        out.push_back(folder_ + '/' + e.path().filename().string());
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  GuideList by_name() {
    for (const std::string& file : found()) {
      add(file, fs::path(file).stem().string(), "");
    }
    return std::move(list_);
  }

  void line(std::string_view text) {
    std::string_view key, rest, title, sentence;
    if (!split(text, key, rest)) return malformed(text);
    if (key == "name") {
      list_.name = rest;
    } else if (key == "says") {
      list_.says = rest;
    } else if (key == "program") {
      list_.program = file(rest);
    } else if (key == "output") {
      list_.output = file(rest);
    } else if (key == "section") {
      section_ = rest;
    } else if (key == "door") {
      std::string_view to, more;
      if (!split(rest, to, more) || !split(more, title, sentence)) {
        return malformed(text);
      }
      list_.doors.push_back(
          {std::string(to), std::string(title), std::string(sentence), here()});
    } else if (key.ends_with(".md") && split(rest, title, sentence)) {
      const std::string path = folder_ + '/' + std::string(key);
      if (!fs::exists(path)) {
        diagnostics_.error(here(), "there is no file '{}'", path);
      } else {
        add(path, std::string(title), std::string(sentence));
      }
    } else {
      malformed(text);
    }
  }

  void malformed(std::string_view text) {
    diagnostics_.error(here(),
                       "expected name, says, program, output, section or door: "
                       "…, or FILE.md: Title: A sentence., got '{}'",
                       text);
  }

  std::string file(std::string_view name) {
    const std::string path = folder_ + '/' + std::string(name);
    if (fs::exists(path)) return lang::read_file(path, diagnostics_);
    diagnostics_.error(here(), "there is no file '{}'", path);
    return {};
  }

  void add(const std::string& file, std::string title, std::string sentence) {
    Guide g;
    g.file = file;
    g.source = source_of(list_.root, file);
    g.path = guide_path(file);
    g.title = std::move(title);
    g.sentence = std::move(sentence);
    g.section = section_;
    g.at = here();
    for (const Guide& other : list_.guides) {
      if (other.path != g.path) continue;
      diagnostics_.error(here(), "'{}' and '{}' would be one page, {}",
                         other.file, g.file, g.path);
      return;
    }
    list_.guides.push_back(std::move(g));
  }

  std::string target(const Door& door) {
    const std::size_t hash =
        std::min(door.target.find('#'), door.target.size());
    const std::string file =
        normal(folder_ + '/' + door.target.substr(0, hash));
    for (const Guide& g : list_.guides) {
      if (normal(g.file) == file) return g.path + door.target.substr(hash);
    }
    if (door.target != "operators.html") {
      diagnostics_.error(door.at,
                         "a door leads to a guide of this list or to "
                         "operators.html, got '{}'",
                         door.target);
    }
    return door.target;
  }

  void complete() {
    std::set<std::string> listed;
    for (const Guide& g : list_.guides) listed.insert(normal(g.file));
    for (const std::string& file : found()) {
      if (listed.count(normal(file)) || file.ends_with("/README.md")) continue;
      diagnostics_.error({file_, line_, 1},
                         "'{}' is not in this list: add FILE.md: Title: A "
                         "sentence.",
                         file);
    }
  }

  std::string folder_, path_;
  InternedString file_;
  lang::Diagnostics& diagnostics_;
  GuideList list_;
  std::string section_ = "Guides";
  std::uint32_t line_ = 0;
};

// "cumsum" of "sy::cumsum(x, 0)", "sy::cumsum" and "cumsum".
std::string_view called(std::string_view code) {
  const bool qualified = code.starts_with("sy::");
  if (qualified) code.remove_prefix(4);
  const std::size_t open = code.find('(');
  const std::string_view name = code.substr(0, open);
  const bool good =
      !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_' ||
               c == ':';
      });
  if (!good || (open != code.npos && !code.ends_with(')'))) return {};
  // A short word may mean anything.
  if (!qualified && open == code.npos && name.size() < 5) return {};
  return name;
}

class Pages {
 public:
  Pages(const GuideList& list,
        const std::function<std::string(std::string_view)>& operator_page,
        lang::Diagnostics& diagnostics)
      : list_(list), operator_page_(operator_page), diagnostics_(diagnostics) {
    for (const Guide& g : list.guides) by_file_[normal(g.file)] = &g;
  }

  std::vector<GuidePage> run() {
    std::vector<GuidePage> out;
    for (const Guide& g : list_.guides) out.push_back(page(g));
    for (const Door& d : list_.doors) {
      if (d.target.starts_with("guides/")) wanted_.push_back({d.target, d.at});
    }
    check_places(out);
    return out;
  }

 private:
  GuidePage page(const Guide& g) {
    const std::string text = lang::read_file(g.file, diagnostics_);
    diagnostics_.add_source(g.file, text);
    std::set<std::string> linked;
    const MarkdownOptions options = {
        [&](const Link& l) { return linked_text(g, l); },
        [&](std::string_view code) -> std::string {
          const std::string_view name = called(code);
          const std::string to = name.empty() ? "" : operator_page_(name);
          // A page links to a target once.
          if (to.empty() || !linked.insert(to).second) return {};
          return link(g.path, to);
        }};
    Document d = read_markdown(g.file, text, options, diagnostics_);
    GuidePage out = {{g.path, g.title, std::move(d.html), "guides", g.sentence},
                     &g,
                     std::move(d.sections)};
    return out;
  }

  std::string linked_text(const Guide& g, const Link& l) {
    const auto anchor = [&](const std::string& href) {
      return fmt::format("<a href=\"{}\">{}</a>", markup_text(href), l.html);
    };
    for (const char* scheme : {"https://", "http://", "mailto:"}) {
      if (l.href.starts_with(scheme)) return anchor(l.href);
    }
    // A browser may take this part for a scheme, such as `javascript:`.
    if (l.href.substr(0, l.href.find_first_of("/#?")).find(':') !=
        std::string::npos) {
      diagnostics_.error(
          l.at, "links to '{}': expected https:, http:, mailto: or a file",
          l.href);
      return l.html;
    }
    const std::size_t hash = std::min(l.href.find('#'), l.href.size());
    const std::string place = l.href.substr(hash);
    if (hash == 0) {
      wanted_.push_back({g.path + place, l.at});
      return anchor(place);
    }
    const std::string file =
        normal(fs::path(g.file).parent_path() / l.href.substr(0, hash));
    if (const auto found = by_file_.find(file); found != by_file_.end()) {
      wanted_.push_back({found->second->path + place, l.at});
      return anchor(link(g.path, found->second->path) + place);
    }
    if (!fs::exists(file)) {
      diagnostics_.error(l.at, "links to '{}', which does not exist", l.href);
      return l.html;
    }
    const std::string path = source_of(list_.root, file);
    const std::string shown = "<code>" + markup_text(path) + "</code>";
    return path.ends_with(l.text) ? shown
                                  : fmt::format("{} ({})", l.html, shown);
  }

  void check_places(const std::vector<GuidePage>& pages) {
    std::set<std::string> places;
    for (const GuidePage& p : pages) {
      places.insert(p.page.path);
      for (const Section& s : p.sections) {
        places.insert(p.page.path + '#' + s.id);
      }
    }
    for (const auto& [target, at] : wanted_) {
      if (places.count(target)) continue;
      diagnostics_.error(at, "links to a heading that does not exist: {}",
                         target);
    }
  }

  const GuideList& list_;
  const std::function<std::string(std::string_view)>& operator_page_;
  lang::Diagnostics& diagnostics_;
  std::map<std::string, const Guide*> by_file_;
  std::vector<std::pair<std::string, lang::Location>> wanted_;
};

}  // namespace

GuideList read_guide_list(const std::string& folder,
                          lang::Diagnostics& diagnostics) {
  std::string plain = folder;
  while (plain.size() > 1 && plain.back() == '/') plain.pop_back();
  return ListReader(plain, diagnostics).run();
}

std::vector<GuidePage> guide_pages(
    const GuideList& list,
    const std::function<std::string(std::string_view)>& operator_page,
    lang::Diagnostics& diagnostics) {
  return Pages(list, operator_page, diagnostics).run();
}

}  // namespace sy::codegen::site
