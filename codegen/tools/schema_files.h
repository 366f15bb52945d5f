#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The places of schema files.

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
// backends/NAME/backend.yaml beside it, but those of plugins. Sorted.
std::vector<std::string> backend_files(const std::string& folder);

// The files of `with` that are not among `files`: names may refer to them. A
// file takes the place of the one with the same name. A folder brings the
// descriptions of its backends.
std::vector<std::string> known_files(const std::vector<std::string>& files,
                                     const std::vector<std::string>& with);

// The schemas of a library, and others that are used with it.
struct Schemas {
  std::vector<std::string> own;      // no part of the library
  std::vector<std::string> library;  // with the descriptions of its backends

  std::vector<std::string> files() const;  // own ones first
};
// The schemas of the files and folders of `with`, added to the library's: the
// library that one of them is or lies in, else that of schemas/ here or of the
// installation. Reports a path without schemas, and if there are none at all.
std::optional<Schemas> schemas_with(const std::vector<std::string>& with,
                                    std::ostream& err);

}  // namespace sy::codegen
