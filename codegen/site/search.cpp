#include "codegen/site/search.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <vector>

#include "codegen/site/operators.h"
#include "lang/format.h"

namespace sy::codegen::site {
namespace {

constexpr std::string_view kCommon[] = {
    "a",     "all",   "also",  "an",    "and",     "are",  "as",   "at",
    "be",    "but",   "by",    "can",   "do",      "does", "each", "else",
    "for",   "from",  "has",   "have",  "if",      "in",   "into", "is",
    "it",    "its",   "may",   "more",  "no",      "not",  "of",   "on",
    "one",   "only",  "or",    "other", "so",      "than", "that", "the",
    "their", "them",  "then",  "there", "they",    "this", "to",   "what",
    "when",  "where", "which", "with",  "without", "you"};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

std::set<std::string> words_of(std::string_view text) {
  std::set<std::string> out;
  std::string word;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && is_word(text[i])) {
      word +=
          static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
      continue;
    }
    const bool common = std::find(std::begin(kCommon), std::end(kCommon),
                                  word) != std::end(kCommon);
    if (word.size() > 1 && !common) out.insert(word);
    word.clear();
  }
  return out;
}

// One page, which may have several operators: overloads of one name.
struct Found {
  std::string name, family, sentence;
  std::set<std::string> more;  // other names that lead there
};

}  // namespace

std::string script_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '<': out += "\\u003c"; break;
      default: out += c;
    }
  }
  return out + '"';
}

std::string search_data(std::span<const Family> families,
                        std::span<const GuidePage> guides) {
  std::map<std::string, Found> pages;
  for (const Family& f : families) {
    for (const Operator& op : f.operators) {
      Found& found = pages[operator_path(f, op)];
      const std::string ns = f.is_own() ? f.ns + "::" : "";
      if (found.name.empty()) {
        found.name = fmt::format("{}{}", ns, op.base.schema.name().name.view());
        found.family = f.name;
      }
      if (found.sentence.empty()) found.sentence = op.entry->doc;
      for (const Overload* o : op.overloads()) {
        const std::string name =
            fmt::format("{}{}", ns, o->schema.name().name.view());
        if (name != found.name) found.more.insert(name);
      }
    }
  }
  std::vector<std::string> operators, parts;
  for (const auto& [path, f] : pages) {
    operators.push_back(fmt::format("[{},{},{},{},{}]", script_text(f.name),
                                    script_text(path), script_text(f.family),
                                    script_text(f.sentence),
                                    script_text(lang::join(f.more, " "))));
  }
  for (const GuidePage& g : guides) {
    for (const Section& s : g.sections) {
      if (s.level == 0 && s.text.empty()) continue;
      const bool page = s.level <= 1;
      parts.push_back(fmt::format(
          "[{},{},{},{}]", script_text(page ? g.page.title : s.title),
          script_text(page ? g.page.path : g.page.path + '#' + s.id),
          script_text(page ? g.page.summary : g.page.title),
          script_text(lang::join(words_of(s.text), " "))));
    }
  }
  return fmt::format(
      "site_data({{\"operators\":[\n{}\n],\n\"guides\":[\n{}\n]}});\n",
      lang::join(operators, ",\n"), lang::join(parts, ",\n"));
}

}  // namespace sy::codegen::site
