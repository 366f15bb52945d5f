#pragma once

#include <string>

namespace sy::tools {

// "TypeError: …" of the exception being handled.
std::string current_exception_text();

}  // namespace sy::tools
