#include "backends/cpu/support/optional_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "c10/process/environment.h"
#include "c10/process/trusted_file.h"

namespace sy::cpu {

namespace {

// A library that is there but does not load ends the search; `why` then says
// what the loader says.
void* open_library(const OptionalLibrary& library, std::string* why) {
  const auto open = [&](const std::string& path) {
    void* const lib = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (lib == nullptr && why != nullptr) {
      const char* const text = dlerror();
      *why = text != nullptr ? text : path + " does not load";
    }
    return lib;
  };
  if (const char* path = environment(library.variable);
      path != nullptr && *path != '\0') {
    std::string refused;
    if (std::strcmp(path, "0") == 0) {
      refused = std::string(library.variable) + "=0";
    } else if (refused = why_untrusted(path); !refused.empty()) {
      refused = std::string(path) + ": " + refused;
    } else {
      return open(path);
    }
    if (why != nullptr) *why = refused;
    return nullptr;
  }
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&load_optional), &here) != 0 &&
      here.dli_fname != nullptr) {
    std::string path = here.dli_fname;
    const size_t slash = path.rfind('/');
    path.resize(slash == std::string::npos ? 0 : slash + 1);
    for (const char* folder : {"", "../lib/"}) {
      const std::string beside = path + folder + library.file;
      if (access(beside.c_str(), F_OK) == 0) return open(beside);
    }
  }
  return open(library.file);
}

const void* table_of(void* lib, const OptionalLibrary& library) {
  using Entry = const void* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(lib, library.entry));
  return entry == nullptr ? nullptr : entry();
}

}  // namespace

const void* load_optional(const OptionalLibrary& library) {
  void* const lib = open_library(library, nullptr);
  return lib == nullptr ? nullptr : table_of(lib, library);
}

std::string why_not_loaded(const OptionalLibrary& library) {
  std::string why;
  if (open_library(library, &why) == nullptr) return why;
  return std::string(library.file) + " is of another version";
}

}  // namespace sy::cpu
