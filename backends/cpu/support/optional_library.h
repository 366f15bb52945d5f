#pragma once

#include <string>

// Shared libraries beside ours that are mapped on first use, so that programs
// that do not need them pay nothing. Each exports one C function, which gives a
// table: a struct with kVersion and, as its first member, the version that it
// was built with.

namespace sy::cpu {

struct OptionalLibrary {
  const char* file;      // libswitchyard_….so
  const char* entry;     // the function
  const char* variable;  // environment variable: another path, or 0 for none
};

// The result of the function; nullptr if the library is not there. The library
// is searched beside the library or program that contains this code, and then
// where the dynamic linker searches.
const void* load_optional(const OptionalLibrary& library);

// The reason why load_optional() gives nullptr, or a table of another version.
// It tries again.
std::string why_not_loaded(const OptionalLibrary& library);

// The table; nullptr if there is none or it is of another version. Keep it in a
// function-local static, within a ForkSection.
template <class Api>
const Api* load_table(const OptionalLibrary& library) {
  const auto* api = static_cast<const Api*>(load_optional(library));
  return api != nullptr && api->version == Api::kVersion ? api : nullptr;
}

}  // namespace sy::cpu
