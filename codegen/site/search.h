#pragma once

#include <span>
#include <string>

#include "codegen/model_names.h"
#include "codegen/site/guides.h"
#include "codegen/site/page.h"
#include "model/model.h"

namespace sy::codegen::site {

// assets/search.js, which site.js loads when somebody begins to search: a call
//   site_data({"operators": [[name, path, family, sentence, more names]],
//              "guides": [[heading, path, guide, words]]});
// `guide` is the title of the guide that has the heading; for its own title, it
// is the sentence about the guide. `words` stand below the heading, each once.
std::string search_data(std::span<const Family> families,
                        std::span<const GuidePage> guides);

// A string of JavaScript, quotes included, that may stand in HTML too.
std::string script_text(std::string_view text);

}  // namespace sy::codegen::site
