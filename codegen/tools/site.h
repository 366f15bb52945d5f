#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "codegen/files.h"
#include "codegen/lang/diagnostics.h"
#include "codegen/model.h"

namespace sy::codegen {

// What `sy dtypes` prints.
struct DtypeList {
  std::string path;  // as messages name it
  std::string text;
};

// The reference as a site that needs no network and no server: index.html, a
// page for each family, dtypes.html (backends, operators, dtypes), search.js
// and style.css. Reports lists that cannot be read.
std::vector<OutputFile> make_site(const Model& model,
                                  const std::vector<DtypeList>& lists,
                                  lang::Diagnostics& diagnostics);

struct SiteOptions {
  std::string folder;
  std::vector<std::string> with;    // schema files or folders
  std::vector<std::string> dtypes;  // files that `sy dtypes` wrote
};
// `sygen site`.
int write_site(const SiteOptions& options, std::ostream& out,
               std::ostream& err);

}  // namespace sy::codegen
