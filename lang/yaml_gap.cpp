#include "lang/yaml_gap.h"

#include <algorithm>
#include <string_view>

namespace sy::lang {
namespace {

bool begins_property(char c) { return c == '&' || c == '*' || c == '!'; }

// The end of the word that begins at `offset`.
std::size_t word_end(const YamlSource& source, std::size_t offset) {
  do {
    ++offset;
  } while (!yaml_gap(source.at(offset)) && !yaml_flow_mark(source.at(offset)));
  return offset;
}

}  // namespace

std::string yaml_property_error(const YamlSource& source, std::size_t offset) {
  const char c = source.at(offset);
  const std::size_t size = word_end(source, offset) - offset;
  const std::string word(source.text().substr(offset, size));
  return (c == '&'   ? "'&' begins a YAML anchor"
          : c == '*' ? "'*' begins a YAML alias"
                     : "'" + word + "' is a YAML tag") +
         ", which is not supported; put the text in quotes";
}

void YamlGap::seek(std::size_t offset, std::size_t length) {
  at = behind = offset + length;
  new_line = property = false;
  indicator = length > 0;
}

void YamlGap::comment() {
  if (at > source.offset(0) && !yaml_gap(source.at(at - 1))) {
    throw YamlError{at, "expected a space before the '#' of a comment"};
  }
  at = source.line_end(at);
}

void YamlGap::next_line() {
  at += source.text().substr(at, 2) == "\r\n" ? 2 : 1;
  new_line = true;
  line_begins();
}

// Throws for a tab before anything but a comment.
void YamlGap::line_begins() {
  const std::size_t end = source.skip_blanks(at);
  const char c = source.at(end);
  const std::size_t tab = source.text().substr(at, end - at).find('\t');
  if (tab != std::string_view::npos && c != '\n' && c != 0 && c != '#') {
    throw YamlError{at + tab, "a tab in the indentation; use spaces"};
  }
}

void YamlGap::walk(std::size_t limit, bool flow) {
  if (at == 0) {
    at = behind = source.offset(0);
    line_begins();
  }
  while (at < limit) {
    const char c = source.at(at);
    const bool alone = yaml_gap(source.at(at + 1));
    if (c == ' ' || c == '\t') {
      at = std::min(limit, source.skip_blanks(at));
    } else if (c == '\n') {
      next_line();
    } else if (c == '#') {
      comment();
    } else if (begins_property(c)) {
      properties();
    } else if (flow ? c == ',' || c == ':' : c == '-' && alone) {
      behind = ++at;
      indicator = true;
    } else if (c == '?' && alone) {
      throw YamlError{at, "keys after '? ' are not supported"};
    } else if (c == '%' && source.column(at) == 0) {
      throw YamlError{at, "a YAML directive, which is not supported"};
    } else {
      return;
    }
  }
}

void YamlGap::properties() {
  while (begins_property(source.at(at))) {
    const std::size_t end = word_end(source, at);
    diagnostics.error(source.location(at), yaml_property_error(source, at));
    property = true;
    behind = end;
    at = source.skip_blanks(end);
  }
}

void YamlGap::content() {
  for (properties(); property; properties()) {
    const char c = source.at(at);
    if (c != '\n' && c != '#') return;
    c == '#' ? comment() : next_line();
    at = source.skip_blanks(at);
  }
}

}  // namespace sy::lang
