#pragma once

#include <string>
#include <string_view>

namespace sy::cpu::jit {

// Appends to *image what an object file of one kernel has, as an image
// (request.h): its code and constants one after the other, with the distances
// between them filled in. False, and why, if the code needs anything else.
bool flatten(std::string_view object, int unit, bool stops, std::string* image,
             std::string* why);

}  // namespace sy::cpu::jit
