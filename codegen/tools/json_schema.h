#pragma once

#include <span>
#include <string>

namespace sy::codegen {

// The JSON Schema of a file of operators, for editors; `tags` are the names
// that there are, any if empty.
std::string json_schema(std::span<const std::string> tags);

// A string of JSON, in quotes.
std::string json_string(std::string_view text);

}  // namespace sy::codegen
