#pragma once

#include <cstddef>
#include <string>

#include "lang/diagnostics.h"
#include "lang/yaml_source.h"

namespace sy::lang {

// Private to the YAML reader: what stands between two nodes. yaml-cpp tells
// where a node begins, not where the last one ended and what it passed over
// from there: indicators, comments, tabs, anchors, tags.
struct YamlGap {
  // A node ends here, or an indicator of `length` bytes begins.
  void seek(std::size_t offset, std::size_t length = 0);
  // Moves to `limit`, or to the first character that begins a node or ends
  // one. `flow`: within brackets. Reports anchors, aliases and tags; throws a
  // YamlError for what yaml-cpp passes over and we refuse.
  void walk(std::size_t limit, bool flow);
  // Moves on over anchors, aliases and tags; content() to what they stand
  // before, be it on another line.
  void properties();
  void content();

  void comment();
  void next_line();
  void line_begins();

  const YamlSource& source;  // both outlive the object
  Diagnostics& diagnostics;
  std::size_t at = 0;  // how far the text is read
  // The place of a value that is left out: behind the last indicator ('-', ',',
  // ':', a bracket), anchor, alias or tag, or where the last node ended.
  std::size_t behind = 0;
  // Whether a line ended since the last seek, whether there was an indicator,
  // and whether an anchor, alias or tag.
  bool new_line = true;
  bool indicator = true;
  bool property = false;
};

// The error for '&', '*' or '!' and the word behind it, at `offset`.
std::string yaml_property_error(const YamlSource& source, std::size_t offset);

}  // namespace sy::lang
