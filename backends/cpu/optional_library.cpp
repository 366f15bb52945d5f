#include "backends/cpu/optional_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace sy::cpu {

namespace {

void* open_library(const OptionalLibrary& library) {
  const int flags = RTLD_NOW | RTLD_LOCAL;
  if (const char* path = std::getenv(library.variable);
      path != nullptr && *path != '\0') {
    return std::strcmp(path, "0") == 0 ? nullptr : dlopen(path, flags);
  }
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&open_library), &here) != 0 &&
      here.dli_fname != nullptr) {
    std::string path = here.dli_fname;
    const size_t slash = path.rfind('/');
    path.resize(slash == std::string::npos ? 0 : slash + 1);
    for (const char* folder : {"", "../lib/"}) {
      if (void* lib = dlopen((path + folder + library.file).c_str(), flags)) {
        return lib;
      }
    }
  }
  return dlopen(library.file, flags);
}

}  // namespace

const void* load_optional(const OptionalLibrary& library) {
  void* const lib = open_library(library);
  if (lib == nullptr) return nullptr;
  using Entry = const void* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(lib, library.entry));
  return entry == nullptr ? nullptr : entry();
}

std::string why_not_loaded(const OptionalLibrary& library) {
  const char* const path = std::getenv(library.variable);
  if (path != nullptr && std::strcmp(path, "0") == 0) {
    return std::string(library.variable) + "=0";
  }
  if (load_optional(library) != nullptr) {
    return std::string(library.file) + " is of another version";
  }
  const char* const why = dlerror();
  return why != nullptr ? why : std::string(library.file) + " is not there";
}

}  // namespace sy::cpu
