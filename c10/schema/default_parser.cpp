#include <fmt/core.h>

#include <charconv>
#include <limits>
#include <string>
#include <system_error>
#include <vector>

#include "c10/schema/default_value.h"
#include "c10/schema/scanner.h"

namespace sy {
namespace detail {
namespace {

using Kind = DefaultValue::Kind;

constexpr int kMaxListDepth = 8;

DefaultValue shared(Kind kind, std::string_view text, std::int64_t integer = 0,
                    double number = 0, std::string_view string = {}) {
  DefaultNode node;
  node.kind = kind;
  node.integer = integer;
  node.number = number;
  node.string = InternedString(string);
  node.text = InternedString(text);
  return DefaultNode::share(node);
}

DefaultValue parse_string(Scanner& in) {
  const std::size_t start = in.offset();
  const std::string_view text = in.quoted();
  std::string value;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    char c = text[i];
    if (c == '\\') {
      c = text[++i];
      switch (c) {
        case 'n': c = '\n'; break;
        case 't': c = '\t'; break;
        case '\\':
        case '\'':
        case '"': break;
        default:
          Scanner::fail(fmt::format("unknown escape '\\{}' in a string; write "
                                    "\\\\, \\', \\\", \\n or \\t",
                                    std::string(1, c)),
                        start + i - 1);
      }
    }
    value += c;
  }
  return shared(Kind::kString, text, 0, 0, value);
}

DefaultValue parse_word(Scanner& in) {
  const std::string_view word = in.identifier();
  if (word == "None") return shared(Kind::kNone, word);
  if (word == "True") return shared(Kind::kBool, word, 1);
  if (word == "False") return shared(Kind::kBool, word, 0);
  using Limits = std::numeric_limits<double>;
  if (word == "inf") return shared(Kind::kDouble, word, 0, Limits::infinity());
  if (word == "nan") {
    return shared(Kind::kDouble, word, 0, Limits::quiet_NaN());
  }
  return shared(Kind::kIdentifier, word, 0, 0, word);
}

DefaultValue parse_number(Scanner& in) {
  const std::size_t start = in.offset();
  const std::string_view text = in.number();
  const char* const first = text.data();
  const char* const last = first + text.size();
  if (text == "-inf") {
    return shared(Kind::kDouble, text, 0,
                  -std::numeric_limits<double>::infinity());
  }
  std::int64_t integer = 0;
  auto [end, code] = std::from_chars(first, last, integer);
  if (end == last && code == std::errc()) {
    return shared(Kind::kInt, text, integer);
  }
  if (end == last && code == std::errc::result_out_of_range) {
    Scanner::fail(fmt::format("integer {} does not fit in 64 bits", text),
                  start);
  }
  double number = 0;
  const bool has_digit =
      text.find_first_of("0123456789") == (text[0] == '-' ? 1 : 0);
  const auto real = std::from_chars(first, last, number);
  if (!has_digit || real.ptr != last) {
    Scanner::fail(fmt::format("malformed number '{}'", text), start);
  }
  if (real.ec != std::errc()) {
    Scanner::fail(fmt::format("number {} does not fit in a double", text),
                  start);
  }
  return shared(Kind::kDouble, text, 0, number);
}

DefaultValue parse_value(Scanner& in, int depth);

DefaultValue parse_list(Scanner& in, int depth) {
  if (depth == kMaxListDepth) {
    Scanner::fail("lists are nested deeper than 8 levels", in.offset());
  }
  in.accept("[");
  std::vector<DefaultValue> items;
  std::string text = "[";
  if (!in.accept("]")) {
    do {
      items.push_back(parse_value(in, depth + 1));
      if (items.size() > 1) text += ',';
      text += items.back().str();
    } while (in.accept(","));
    if (!in.accept("]")) in.fail_expected("',' or ']' in a list");
  }
  text += ']';
  DefaultNode node;
  node.kind = Kind::kList;
  node.text = InternedString(text);
  node.items = items.data();
  node.item_count = items.size();
  return DefaultNode::share(node);
}

DefaultValue parse_value(Scanner& in, int depth) {
  const char c = in.peek();
  if (c == '[') return parse_list(in, depth);
  if (c == '"' || c == '\'') return parse_string(in);
  if (c == '-' || (c >= '0' && c <= '9')) return parse_number(in);
  if (in.at_identifier()) return parse_word(in);
  in.fail_expected("a default value");
}

}  // namespace

DefaultValue parse_default(Scanner& in) { return parse_value(in, 0); }

}  // namespace detail

DefaultValue DefaultValue::parse(std::string_view text) {
  detail::Scanner in(text);
  const DefaultValue value = detail::parse_default(in);
  if (!in.at_end()) in.fail_expected("end of text after the default value");
  return value;
}

}  // namespace sy
