#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sy::tools {

// Values at which an operator may do something else.
struct Hints {
  std::vector<std::string> texts;
  std::vector<double> numbers;
};

// The facts of a proof from the text of schemas, besides their operators. It
// reads lines: an entry begins with `- func:`, a key begins a line or follows
// '{' or ','.
class SchemaTexts {
 public:
  // Reads files that were loaded without an error. Throws ValueError.
  explicit SchemaTexts(const std::vector<std::string>& files);

  // The texts in quotes of all entries, and the numbers of this one, by its
  // name without `aten::`.
  Hints hints(std::string_view name) const;
  // `derivative: none, because TEXT` of this one, or "".
  std::string no_derivative(std::string_view name) const;

 private:
  struct Entry {
    std::vector<double> numbers;
    std::string no_derivative;
  };

  void read(std::string_view line);

  std::vector<std::string> texts_;
  std::map<std::string, Entry, std::less<>> entries_;
  Entry* entry_ = nullptr;   // that lines belong to
  bool derivative_ = false;  // the last line was a key without its value
};

}  // namespace sy::tools
