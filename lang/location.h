#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "c10/schema/interned_string.h"

namespace sy::lang {

// A place in a file, counted from 1; line 0 means none. A value, no lifetime.
struct Location {
  InternedString file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  friend bool operator==(const Location&, const Location&) = default;
};

// "ops/a.yaml:3:14", or what of it is known.
std::string to_string(const Location& at);

// A text taken from a file that knows where each of its characters stands
// there: escapes, folded lines and indentation of YAML move them about.
class Text {
 public:
  Text() = default;
  // A text of one line that stands at `start` as it is.
  explicit Text(std::string value, Location start = {});

  const std::string& str() const { return value_; }
  bool empty() const { return value_.empty(); }
  Location start() const { return at(0); }
  // The place of the character at `offset`, or of the end.
  Location at(std::size_t offset) const;
  // The characters from `offset` on stand at `at` and behind it, up to the next
  // such mark. Offsets rise.
  void mark(std::size_t offset, Location at);

  // The texts alone are compared.
  friend bool operator==(const Text& a, const Text& b) {
    return a.value_ == b.value_;
  }

 private:
  struct Segment {
    std::size_t offset;
    Location at;
  };

  std::string value_;
  std::vector<Segment> segments_;
};

}  // namespace sy::lang
