#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lang/yaml.h"

// The facts that the tree of a YAML file lacks, for the formatter: how a value
// is written, and where comments stand.

namespace sy::codegen {

struct Comment {
  std::string text;  // from the '#' on
  std::size_t line;
  bool indented;   // does not begin in the first column
  bool after_gap;  // an empty line before it
};

class FmtSource {
 public:
  // Both outlive the object.
  FmtSource(std::string_view text, const lang::YamlNode& root);

  // A line, from 1, without white space at its end.
  std::string_view line(std::size_t number) const;
  // The character at a place.
  char at(const lang::Location& place) const;

  // "{", "[", a quote, "|" or ">" that a value begins with; 0 for a plain one.
  char opening(const lang::YamlNode& node) const;
  // The characters of a value that is quoted or in brackets.
  std::string slice(const lang::YamlNode& node) const;
  // The comment behind a value on its last line, or "".
  std::string trailing(const lang::YamlNode& node) const;
  // Lines of a block, from the one behind `>-`.
  std::vector<std::string_view> block(const lang::YamlNode& node) const;

  // Comments that have lines of their own: before the node that begins on a
  // line, at the end of the entry that begins there, and at the end of all.
  std::vector<Comment> before(std::size_t line) const;
  std::vector<Comment> behind_entry(std::size_t line) const;
  const std::vector<Comment>& at_end() const { return at_end_; }
  // Each of them and the trailing ones, sorted.
  std::vector<std::string> all_comments() const;

  // Whether a comment stands within the brackets of a value.
  bool has_comment_within(const lang::YamlNode& node) const;

 private:
  std::size_t offset(const lang::Location& place) const;
  void walk(const lang::YamlNode& node);
  void attach();

  std::string_view text_;
  std::vector<std::size_t> starts_;  // offsets of lines
  std::vector<std::string_view> lines_;
  std::vector<bool> in_block_;        // by line
  std::vector<std::size_t> nodes_;    // lines that keys and items begin on
  std::vector<std::size_t> entries_;  // and entries
  std::vector<std::string> trailing_;
  std::map<std::size_t, std::vector<Comment>> before_, behind_;
  std::vector<Comment> at_end_;
};

}  // namespace sy::codegen
