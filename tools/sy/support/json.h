#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace sy::tools {

using Json = nlohmann::json;

// Parses all of `text`. Throws ValueError that begins with `where`, also for
// keys that are there twice, which the JSON library would let pass.
Json parse_json(std::string_view text, const std::string& where);

// The list of int64 in `v`. Throws ValueError that names `what`.
std::vector<int64_t> int_list(const Json& v, const std::string& what);

// One line. Bytes that are no UTF-8 are replaced.
std::string dump(const Json& v, int indent = -1);

// The whole file. Throws ValueError.
std::string read_file(const std::string& path);
// Throws Error.
void write_file(const std::string& path, std::string_view text);

}  // namespace sy::tools
