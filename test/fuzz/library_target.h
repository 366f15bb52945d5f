#pragma once

#include <string_view>

// The headers and notes of a shared object, as test/fuzz/targets.h says of its
// targets.

namespace sy::fuzz {

void library(std::string_view bytes);

}  // namespace sy::fuzz
