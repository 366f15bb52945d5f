#pragma once

#include <string>

#include "c10/macros.h"

namespace sy {

// The C++ name of a symbol or a type, "sy::Library::def(int)"; any other text
// is returned unchanged.
SY_API std::string demangled(const char* name);

}  // namespace sy
