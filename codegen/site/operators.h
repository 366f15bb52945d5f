#pragma once

#include <span>
#include <string>
#include <vector>

#include "codegen/model_names.h"
#include "codegen/site/facts.h"
#include "codegen/site/page.h"
#include "model/model.h"

namespace sy::codegen::site {

// "ops/add.html", "ops/mine.bump.html"
std::string operator_path(const Family& family, const Operator& op);
// "families/activation.html"
std::string family_path(const Family& family);

// Whether it is one of these families of the model.
bool has_family(std::span<const Family> families, const Family& family);

// The pages of these families of the model: one for each operator, one for each
// family (a paragraph and a table), and operators.html with all names by
// family. Operators of other families are named and not linked. Each page is
// under 100 KB with its frame.
std::vector<Page> operator_pages(const Model& model,
                                 std::span<const Family> families,
                                 const Facts& facts);

}  // namespace sy::codegen::site
