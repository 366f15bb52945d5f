#pragma once

#include <string_view>

#include "codegen/site/operators_parts.h"
#include "codegen/site/page.h"

// Private to the operator pages: families and the list of all.

namespace sy::codegen::site {

Page family_page(const PageContext& context, const Family& family);
// operators.html
Page all_operators_page(const PageContext& context);

}  // namespace sy::codegen::site
