#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sy::io {

// A JSON object of strings, in its order in the text.
using StringPairs = std::vector<std::pair<std::string, std::string>>;

// The first name, in alphabetical order, that stands twice; nullptr if none
// does.
const std::string* repeated(std::vector<const std::string*> names);
const std::string* repeated(const StringPairs& pairs);

// Appends a JSON object of `"name":"value"` pairs. Throws ValueError "[op]
// what: ..." for names that stand twice, and for strings that are not UTF-8.
void append_json_object(std::string& out, const StringPairs& pairs,
                        std::string_view op, const char* what);

}  // namespace sy::io
