#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "backends/cpu/onednn_api.h"

namespace sy::cpu {

namespace {

// Beside the library (or program) that this code is in, else where the dynamic
// linker searches. SWITCHYARD_ONEDNN names another place, or 0 for none.
void* open_library() {
  const int flags = RTLD_NOW | RTLD_LOCAL;
  if (const char* path = std::getenv("SWITCHYARD_ONEDNN");
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
      if (void* lib = dlopen((path + folder + kOneDnnLibrary).c_str(), flags)) {
        return lib;
      }
    }
  }
  return dlopen(kOneDnnLibrary, flags);
}

const OneDnnApi* load() {
  void* const lib = open_library();
  if (lib == nullptr) return nullptr;
  using Entry = const OneDnnApi* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(lib, kOneDnnEntry));
  const OneDnnApi* api = entry == nullptr ? nullptr : entry();
  return api != nullptr && api->version == OneDnnApi::kVersion ? api : nullptr;
}

}  // namespace

const OneDnnApi* onednn() {
  static const OneDnnApi* const api = load();
  return api;
}

}  // namespace sy::cpu
