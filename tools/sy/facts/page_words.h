#pragma once

#include <string>
#include <string_view>

namespace sy::tools {

// Words for the example that a page shows, where those that tests use give
// much output or say little; "" if there are none. `name`: without `aten::`.
std::string shown_words(std::string_view name);

}  // namespace sy::tools
