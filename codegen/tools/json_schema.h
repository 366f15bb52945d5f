#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sy::codegen {

// The JSON Schema of a file of operators, for editors; `tags` are the names
// that there are, any if empty; `keys` what `dispatch:` may name, likewise.
std::string json_schema(std::span<const std::string> tags,
                        std::span<const std::string_view> keys);

// A string of JSON, in quotes.
std::string json_string(std::string_view text);

}  // namespace sy::codegen
