#include "tools/sy/launch/lines.h"

#include <algorithm>

namespace sy::tools {

std::string LabelledLines::add(std::string_view piece) {
  std::string out;
  while (!piece.empty()) {
    const size_t end = piece.find('\n');
    const size_t room = kLongest - partial_.size();
    const size_t n = std::min(end == piece.npos ? piece.size() : end, room);
    partial_ += piece.substr(0, n);
    piece.remove_prefix(n);
    if (piece.empty()) break;
    // Here is the line's end, or there is no more room.
    if (piece.front() == '\n') piece.remove_prefix(1);
    end_line(out);
  }
  return out;
}

std::string LabelledLines::rest() {
  std::string out;
  if (!partial_.empty()) end_line(out);
  return out;
}

void LabelledLines::end_line(std::string& out) {
  out += label_;
  out += partial_;
  out += '\n';
  partial_.clear();
}

}  // namespace sy::tools
