#pragma once

#include <map>
#include <string>
#include <vector>

namespace sy::tools {

// What a proof takes from the text of schemas, besides their operators.
struct SchemaTexts {
  // The texts in quotes: an argument that is a text may be one of them.
  std::vector<std::string> literals;
  // Why an operator has no derivative, by its name without `aten::`.
  std::map<std::string, std::string, std::less<>> no_derivative;
};

// Of files that were loaded without an error. Throws ValueError.
SchemaTexts read_schema_texts(const std::vector<std::string>& files);

}  // namespace sy::tools
