#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace sy::codegen {

// `sygen describe`: the families that `with` adds to the library's, else all,
// as describe() has them. See schemas_with(). `file` may be "", for `out`.
int describe_schemas(const std::vector<std::string>& with,
                     const std::string& file, std::ostream& out,
                     std::ostream& err);

struct SiteOptions {
  std::vector<std::string> with;  // see schemas_with()
  // The arguments of the program in site/: the folder to write to, options.
  std::vector<std::string> arguments;
};

// `sygen site`: becomes the program that makes a site of the same description.
// Returns if it cannot.
int make_site(const SiteOptions& options, std::ostream& err);

}  // namespace sy::codegen
