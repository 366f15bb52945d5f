#pragma once

#include <string>

#include "c10/macros.h"

namespace sy {

// The C++ name of a symbol or a type, "sy::Library::def(int)"; what is none is
// left as it is.
SY_API std::string demangled(const char* name);

}  // namespace sy
