#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace sy::codegen {

// `sygen fmt`: rewrites the files that are not in the one layout, or that do
// not point to the operators.schema.json in the folder above. With `check` they
// are only named, and the status is 1 if there are any.
int format_files(const std::vector<std::string>& paths, bool check,
                 std::ostream& out, std::ostream& err);

// `sygen json-schema`; `tags` is a tags.yaml, or "".
int print_json_schema(const std::string& tags, std::ostream& out,
                      std::ostream& err);

}  // namespace sy::codegen
