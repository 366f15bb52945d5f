#pragma once

#include <map>
#include <string>
#include <vector>

namespace sy::tools {

// The words of each operator's example call, by its name without `aten::`.
using ExampleWords = std::map<std::string, std::string, std::less<>>;

// Those of the library, which are installed beside bin/ (SWITCHYARD_EXAMPLES
// names another file), and of `files`, whose lines are `NAME: WORDS`. Throws
// ValueError.
ExampleWords read_examples(const std::vector<std::string>& files);

}  // namespace sy::tools
