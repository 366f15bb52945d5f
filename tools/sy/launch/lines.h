#pragma once

#include <string>
#include <string_view>

namespace sy::tools {

// Makes whole lines of the pieces in which a rank's output comes, each with the
// rank's label.
class LabelledLines {
 public:
  // A longer line is cut: memory is bounded.
  static constexpr size_t kLongest = 1 << 20;

  // `label` stands before each line: "[3] ", or "".
  explicit LabelledLines(std::string label) : label_(std::move(label)) {}
  // The lines that end with this piece.
  std::string add(std::string_view piece);
  // The rest at the end, as a line.
  std::string rest();

 private:
  void end_line(std::string& out);
  std::string label_, partial_;
};

}  // namespace sy::tools
