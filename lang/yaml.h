#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/diagnostics.h"
#include "lang/location.h"

// YAML as a tree in which everything knows its place; yaml-cpp parses it.
// Stricter than YAML: a duplicate key, an anchor, an alias, a tag, a merge or a
// tab in the indentation is an error. Limits of yaml-cpp: a key stands on one
// line and has at most 1024 bytes; a text without quotes has no '?' within
// brackets. Several threads may read at once.

namespace sy::lang {

struct YamlNode {
  enum class Kind : std::uint8_t { kNull, kScalar, kSequence, kMap };
  struct Entry;

  Kind kind = Kind::kNull;
  bool plain = true;  // of a scalar: neither quoted nor a block
  Text scalar;
  bool flow = false;  // of a sequence: written as `[a, b]`
  Text raw;           // of a flow sequence: its text, brackets included
  std::vector<YamlNode> items;
  std::vector<Entry> entries;  // in file order
  Location at;
  Location end;  // behind it; of a block list or map, or nothing, as `at`

  bool is_scalar() const { return kind == Kind::kScalar; }
  bool is_sequence() const { return kind == Kind::kSequence; }
  bool is_map() const { return kind == Kind::kMap; }
  bool is_null() const { return kind == Kind::kNull; }
  // The characters of a scalar; "" of anything else.
  const std::string& str() const { return scalar.str(); }
  // The value of a key of a map, or null.
  const YamlNode* find(std::string_view key) const;
};

struct YamlNode::Entry {
  Text key;
  YamlNode value;
};

// The one document of `text`; `file` is the name for messages. A null node
// after a syntax error.
YamlNode parse_yaml(std::string_view text, std::string_view file,
                    Diagnostics& diagnostics);

// Reads a whole file; an error without a line if it cannot be read.
std::string read_file(const std::string& path, Diagnostics& diagnostics);

// Reports the keys of a map that are not among `known`, with the nearest.
void check_keys(const YamlNode& map, std::string_view what,
                std::span<const std::string_view> known,
                Diagnostics& diagnostics);

// The scalar as a bool (true, false, True, False); an error if it is none.
bool yaml_bool(const YamlNode& node, std::string_view what,
               Diagnostics& diagnostics);
// A list of scalars, or one scalar with commas: `a, b`.
std::vector<Text> yaml_list(const YamlNode& node, std::string_view what,
                            Diagnostics& diagnostics);
// The parts of a scalar between commas, each with its place.
std::vector<Text> split_commas(const Text& text);

}  // namespace sy::lang
