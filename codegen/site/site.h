#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "codegen/files.h"
#include "codegen/model_names.h"
#include "codegen/site/facts.h"
#include "codegen/site/guides.h"
#include "lang/diagnostics.h"
#include "model/model.h"

namespace sy::codegen::site {

struct SiteOptions {
  std::string folder;
  std::vector<std::string> with;  // see schemas_with()
  std::string title;              // of the site; that of the guides
  std::string guides;             // a folder, see guides.h
  std::string facts;              // file from `sy facts`
  std::string timings;            // file from `./sy bench --peer --json`
};

// A site that needs no network and no server: the start page, guides, a page
// for each of these families of the model and for each operator of theirs,
// search. Paths are in the site. Reports guides with links to nothing.
std::vector<OutputFile> make_site(const std::string& title, const Model& model,
                                  std::span<const Family> families,
                                  const GuideList& guides, const Facts& facts,
                                  lang::Diagnostics& diagnostics);

// `sygen site`: writes the site of the families that `with` adds to the
// library's, else of all.
int write_site(const SiteOptions& options, std::ostream& out,
               std::ostream& err);

}  // namespace sy::codegen::site
