#pragma once

#include <span>
#include <string>

#include "codegen/model_names.h"
#include "codegen/site/guides.h"
#include "codegen/site/page.h"
#include "model/model.h"

namespace sy::codegen::site {

// index.html: what it is, a search field, a first program, doors to pages that
// most people look for, figures of the families. Without guides: search,
// families.
Page start_page(const std::string& name, std::span<const Family> families,
                const GuideList& guides);

}  // namespace sy::codegen::site
