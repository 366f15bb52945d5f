#include "codegen/site/highlight.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "codegen/tools/markup.h"

namespace sy::codegen::site {
namespace {

constexpr std::string_view kCpp[] = {"alignas",
                                     "auto",
                                     "bool",
                                     "break",
                                     "case",
                                     "catch",
                                     "char",
                                     "class",
                                     "co_await",
                                     "concept",
                                     "const",
                                     "consteval",
                                     "constexpr",
                                     "const_cast",
                                     "continue",
                                     "decltype",
                                     "default",
                                     "delete",
                                     "do",
                                     "double",
                                     "dynamic_cast",
                                     "else",
                                     "enum",
                                     "explicit",
                                     "export",
                                     "extern",
                                     "false",
                                     "final",
                                     "float",
                                     "for",
                                     "friend",
                                     "goto",
                                     "if",
                                     "inline",
                                     "int",
                                     "long",
                                     "mutable",
                                     "namespace",
                                     "new",
                                     "noexcept",
                                     "nullptr",
                                     "operator",
                                     "override",
                                     "private",
                                     "protected",
                                     "public",
                                     "reinterpret_cast",
                                     "requires",
                                     "return",
                                     "short",
                                     "signed",
                                     "sizeof",
                                     "static",
                                     "static_assert",
                                     "static_cast",
                                     "struct",
                                     "switch",
                                     "template",
                                     "this",
                                     "thread_local",
                                     "throw",
                                     "true",
                                     "try",
                                     "typedef",
                                     "typename",
                                     "union",
                                     "unsigned",
                                     "using",
                                     "virtual",
                                     "void",
                                     "volatile",
                                     "while"};
constexpr std::string_view kPython[] = {
    "False",   "None",     "True",  "and",    "as",   "assert", "break",
    "class",   "continue", "def",   "del",    "elif", "else",   "except",
    "finally", "for",      "from",  "global", "if",   "import", "in",
    "is",      "lambda",   "not",   "or",     "pass", "raise",  "return",
    "self",    "try",      "while", "with",   "yield"};
constexpr std::string_view kExpression[] = {"and", "auto", "false", "if",
                                            "in",  "not",  "or",    "true"};
// Words that may begin a line of a shell before a command.
constexpr std::string_view kShell[] = {"do",     "done", "elif", "else",
                                       "export", "fi",   "for",  "if",
                                       "sudo",   "then", "while"};

template <class List>
bool has(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
bool is_word(char c) { return is_letter(c) || is_digit(c); }

// Reads code from front to back and writes it as HTML.
class Painter {
 public:
  explicit Painter(std::string_view code) : code_(code) {}

  bool done() const { return at_ >= code_.size(); }
  char here(std::size_t ahead = 0) const {
    return at_ + ahead < code_.size() ? code_[at_ + ahead] : '\0';
  }
  char before() const { return at_ == 0 ? '\n' : code_[at_ - 1]; }
  std::string_view rest() const { return code_.substr(at_); }
  bool looking_at(std::string_view text) const {
    return rest().starts_with(text);
  }
  std::size_t to_end_of_line() const {
    return std::min(rest().find('\n'), rest().size());
  }
  std::size_t word_length() const {
    std::size_t n = 0;
    while (is_word(here(n))) ++n;
    return n;
  }
  // 12, 1.5e-3f, 0x1F'FF; from a digit on.
  std::size_t number_length() const {
    std::size_t n = 0;
    while (is_word(here(n)) || here(n) == '.' || here(n) == '\'' ||
           ((here(n) == '-' || here(n) == '+') && n > 0 &&
            (here(n - 1) == 'e' || here(n - 1) == 'E') && here(1) != 'x')) {
      ++n;
    }
    return n;
  }
  // The length from a quote to the same one, or to the end of the line.
  std::size_t string_length(bool escapes = true) const {
    for (std::size_t n = 1; at_ + n < code_.size(); ++n) {
      if (escapes && here(n) == '\\') {
        ++n;
      } else if (here(n) == here()) {
        return n + 1;
      } else if (here(n) == '\n') {
        return n;
      }
    }
    return rest().size();
  }
  // The length up to and with `end`, which may be missing.
  std::size_t length_to(std::string_view end, std::size_t from) const {
    const std::size_t found = rest().find(end, from);
    return found == rest().npos ? rest().size() : found + end.size();
  }

  // The next `n` characters, as `kind`; '\0' is plain.
  void take(std::size_t n, char kind = '\0') {
    const std::string text =
        markup_text(code_.substr(at_, std::min(n, code_.size() - at_)));
    if (kind == '\0') {
      out_ += text;
    } else {
      out_ += "<span class=\"";
      out_ += kind;
      out_ += "\">" + text + "</span>";
    }
    at_ += n;
  }
  std::string finish() { return std::move(out_); }

 private:
  std::string_view code_;
  std::size_t at_ = 0;
  std::string out_;
};

// The kind of a name by its looks: Tensor, kFloat, call(.
char kind_of_name(const Painter& p, std::string_view word) {
  const bool constant = word.size() > 1 && word[0] == 'k' &&
                        std::isupper(static_cast<unsigned char>(word[1]));
  if (constant) return 'n';
  const bool large = std::isupper(static_cast<unsigned char>(word[0]));
  const bool macro = std::none_of(word.begin(), word.end(), [](char c) {
    return std::islower(static_cast<unsigned char>(c));
  });
  if (large && (!macro || word.size() == 1)) return 't';
  std::size_t n = word.size();
  while (p.here(n) == ' ') ++n;
  return p.here(n) == '(' ? 'f' : '\0';
}

// The parts that C++ and Python have alike: strings, numbers, names.
template <class Words>
void code(Painter& p, const Words& keywords) {
  if (p.here() == '"' || p.here() == '\'') {
    p.take(p.string_length(), 's');
  } else if (is_digit(p.here())) {
    p.take(p.number_length(), 'n');
  } else if (is_letter(p.here())) {
    const std::string_view word = p.rest().substr(0, p.word_length());
    p.take(word.size(), has(keywords, word) ? 'k' : kind_of_name(p, word));
  } else {
    p.take(1);
  }
}

void cpp(Painter& p) {
  if (p.before() == '\n' && p.here() == '#') {
    std::size_t n = 1;
    while (p.here(n) == ' ') ++n;
    while (is_word(p.here(n))) ++n;
    const bool include = p.rest().substr(0, n).ends_with("include");
    p.take(n, 'k');
    if (!include) return;
    while (p.here() == ' ') p.take(1);
    if (p.here() == '<')
      p.take(std::min(p.length_to(">", 0), p.to_end_of_line()), 's');
  } else if (p.looking_at("//")) {
    p.take(p.to_end_of_line(), 'c');
  } else if (p.looking_at("/*")) {
    p.take(p.length_to("*/", 2), 'c');
  } else if (p.looking_at("R\"")) {
    const std::size_t open = p.rest().find('(');
    const std::string end =
        open == std::string_view::npos
            ? "\""
            : ')' + std::string(p.rest().substr(2, open - 2)) + '"';
    p.take(p.length_to(end, 2), 's');
  } else {
    code(p, kCpp);
  }
}

void python(Painter& p) {
  if (p.here() == '#') {
    p.take(p.to_end_of_line(), 'c');
  } else if (p.looking_at("\"\"\"")) {
    p.take(p.length_to("\"\"\"", 3), 's');
  } else {
    code(p, kPython);
  }
}

void cmake(Painter& p) {
  if (p.here() == '#') {
    p.take(p.to_end_of_line(), 'c');
  } else if (p.here() == '"') {
    p.take(p.string_length(), 's');
  } else if (is_letter(p.here())) {
    const std::string_view word = p.rest().substr(0, p.word_length());
    p.take(word.size(), p.here(word.size()) == '(' ? 'f' : '\0');
  } else {
    p.take(1);
  }
}

bool is_key_letter(char c) {
  return is_word(c) || c == '-' || c == '.' || c == '/';
}

// Schemas: keys, and values that are expressions or signatures.
void yaml(Painter& p) {
  const bool apart = p.before() == ' ' || p.before() == '\n' ||
                     p.before() == '{' || p.before() == '[';
  if (apart && p.here() == '#') return p.take(p.to_end_of_line(), 'c');
  if (apart && (p.here() == '"' || p.here() == '\'')) {
    return p.take(p.string_length(p.here() == '"'), 's');
  }
  if (apart && is_letter(p.here())) {
    std::size_t n = 1;
    while (is_key_letter(p.here(n))) ++n;
    const char next = p.here(n + 1);
    if (p.here(n) == ':' && (next == ' ' || next == '\n' || next == '\0')) {
      const bool text = p.rest().substr(0, n) == "doc";
      p.take(n, 'k');
      p.take(1);
      if (text) p.take(p.to_end_of_line());
      return;
    }
  }
  if (is_digit(p.here())) return p.take(p.number_length(), 'n');
  if (!is_letter(p.here())) return p.take(1);
  const std::string_view word = p.rest().substr(0, p.word_length());
  p.take(word.size(), has(kExpression, word) ? 'k' : kind_of_name(p, word));
}

// `command` says whether the next word is one.
void shell(Painter& p, bool& command) {
  const char c = p.here();
  const bool apart = p.before() == ' ' || p.before() == '\n';
  if (apart && c == '#') return p.take(p.to_end_of_line(), 'c');
  if (c == '\n' || c == '|' || c == ';' || c == '&') {
    const bool more = c == '\n' && p.before() == '\\';
    command = !more;
    return p.take(1);
  }
  if (c == '"' || c == '\'') {
    command = false;
    return p.take(p.string_length(c == '"'), 's');
  }
  if (c == '$' && (is_word(p.here(1)) || p.here(1) == '{')) {
    if (p.here(1) == '{') return p.take(p.length_to("}", 2), 'n');
    std::size_t n = 1;
    while (is_word(p.here(n))) ++n;
    return p.take(n, 'n');
  }
  if (c == ' ' || c == '\t' || c == '\\') return p.take(1);
  std::size_t n = 1;
  while (p.here(n) != '\0' &&
         std::string_view(" \t\n|;&\"'$").find(p.here(n)) ==
             std::string_view::npos) {
    ++n;
  }
  const std::string_view word = p.rest().substr(0, n);
  if (command && has(kShell, word)) return p.take(n, 'k');
  if (command && is_letter(c)) {
    const std::size_t name = p.word_length();
    if (p.here(name) == '=') return p.take(name, 'n');
  }
  const bool is_command = command && c != '=';
  if (is_command) command = false;
  p.take(n, is_command ? 'f' : apart && c == '-' && n > 1 ? 't' : '\0');
}

}  // namespace

std::string highlighted(std::string_view language, std::string_view code) {
  Painter p(code);
  bool command = true;
  while (!p.done()) {
    if (language == "cpp" || language == "c++") {
      cpp(p);
    } else if (language == "python") {
      python(p);
    } else if (language == "cmake") {
      cmake(p);
    } else if (language == "yaml") {
      yaml(p);
    } else if (language == "sh" || language == "bash") {
      shell(p, command);
    } else {
      p.take(code.size());
    }
  }
  return p.finish();
}

}  // namespace sy::codegen::site
