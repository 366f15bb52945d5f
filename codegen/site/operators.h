#pragma once

#include <string>
#include <vector>

#include "codegen/model.h"
#include "codegen/site/facts.h"
#include "codegen/site/page.h"

namespace sy::codegen::site {

// "ops/add.html", "ops/mine.bump.html"
std::string operator_path(const Family& family, const Operator& op);
// "families/activation.html"
std::string family_path(const Family& family);

// A page for each operator, one for each family (a paragraph and a table), and
// operators.html with all names by family. Each is under 100 KB with its frame.
std::vector<Page> operator_pages(const Model& model, const Facts& facts);

}  // namespace sy::codegen::site
