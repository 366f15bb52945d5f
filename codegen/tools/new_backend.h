#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

namespace sy::codegen {

struct NewBackendOptions {
  std::string name;    // of devices and of the library: "npu"
  std::string folder;  // "" for one of that name here
};

// `sygen new-backend`: a project outside the tree that builds against an
// installed SDK, loads, and passes its tests as it is. Writes nothing if the
// folder holds anything.
int new_backend(const NewBackendOptions& options, std::ostream& out,
                std::ostream& err);

// The project's files: those of examples/backend, which is called `sample`.
struct TemplateFile {
  std::string_view path;
  std::string_view text;
};
std::span<const TemplateFile> new_backend_files();

}  // namespace sy::codegen
