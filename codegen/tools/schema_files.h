#pragma once

#include <string>
#include <string_view>
#include <vector>

// Where schemas lie.

namespace sy::codegen {

// A file, or all that a folder holds: its .yaml files, else those of ops/ in
// it, and tags.yaml of either. Sorted; none if there is nothing.
std::vector<std::string> schema_files(const std::string& path);
bool is_tags(std::string_view path);

// The library's own: beside `file` if that lies in such a folder (ops/ beside a
// tags.yaml), else share/switchyard/schemas of the installation that the
// program belongs to. Empty if there is none.
std::string library_of(const std::string& file);

// The descriptions of the backends that a folder of schemas goes with:
// backends/NAME/backend.yaml beside it. Sorted.
std::vector<std::string> backend_files(const std::string& folder);

// Those of `with` that are not among `files`: what names may refer to. A file
// takes the place of the one with the same name. A folder brings the
// descriptions of its backends.
std::vector<std::string> known_files(const std::vector<std::string>& files,
                                     const std::vector<std::string>& with);

}  // namespace sy::codegen
