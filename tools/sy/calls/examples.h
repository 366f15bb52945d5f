#pragma once

#include <map>
#include <string>
#include <vector>

namespace sy::tools {

// Words by an operator's name without `aten::`.
using ExampleWords = std::map<std::string, std::string, std::less<>>;

// The words of example calls: those of the library, which are installed beside
// bin/ (SWITCHYARD_EXAMPLES names another file), and of `files`, whose lines
// are `NAME: WORDS`. Throws ValueError.
ExampleWords read_examples(const std::vector<std::string>& files);

// Why operators have no derivative: the lines `NAME derivative: none, because
// TEXT` of the same files. Throws ValueError.
ExampleWords read_no_derivatives(const std::vector<std::string>& files);

}  // namespace sy::tools
