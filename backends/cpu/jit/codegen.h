#pragma once

#include <string>
#include <string_view>

// Programs as machine code, by LLVM. No state: any thread may compile.

namespace sy::cpu::jit {

// Appends an image (request.h) to *image. False, and why, if the request is
// none, or if it needs a primitive or a conversion that is not compiled.
bool compile(std::string_view request, std::string* image, std::string* why);
// The LLVM code of the kernel, or its assembly, for people.
bool print_code(std::string_view request, bool assembly, std::string* text);

}  // namespace sy::cpu::jit
