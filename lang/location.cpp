#include "lang/location.h"

#include <algorithm>
#include <utility>

#include "lang/format.h"

namespace sy::lang {

std::string to_string(const Location& at) {
  const std::string_view file = at.file.empty() ? "<text>" : at.file.view();
  if (at.line == 0) return std::string(file);
  return fmt::format("{}:{}:{}", file, at.line, at.column);
}

Text::Text(std::string value, Location start) : value_(std::move(value)) {
  if (start.line != 0) segments_.push_back({0, start});
}

Location Text::at(std::size_t offset) const {
  if (segments_.empty()) {
    Location at;
    at.line = 1;
    at.column = static_cast<std::uint32_t>(std::min(offset, value_.size()) + 1);
    return at;
  }
  auto next = std::upper_bound(
      segments_.begin(), segments_.end(), offset,
      [](std::size_t o, const Segment& s) { return o < s.offset; });
  const Segment& s = next == segments_.begin() ? *next : *std::prev(next);
  Location at = s.at;
  at.column += static_cast<std::uint32_t>(offset - s.offset);
  return at;
}

void Text::mark(std::size_t offset, Location at) {
  if (!segments_.empty() && segments_.back().offset == offset) {
    segments_.back().at = at;
  } else {
    segments_.push_back({offset, at});
  }
}

}  // namespace sy::lang
