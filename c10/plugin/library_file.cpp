#include "c10/plugin/library_file.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string_view>

#include "c10/plugin/load_library.h"
#include "c10/process/demangle.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"
#include "c10/process/trusted_file.h"

namespace sy {

namespace {

// nullopt, with errno, if there is no such file.
std::optional<std::string> resolve(const std::string& path) {
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) == nullptr) return std::nullopt;
  return resolved;
}

const char* search_path() {
  const char* const folders = environment("SWITCHYARD_PLUGINS");
  return folders != nullptr ? folders : "";
}

std::optional<std::string> search(const std::string& name) {
  std::string_view rest = search_path();
  while (!rest.empty()) {
    std::string folder(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    if (folder.empty()) continue;
    if (auto found = resolve(folder.append("/").append(name))) return found;
  }
  return std::nullopt;
}

// The plugin of this project with that name, "lazy": in SWITCHYARD_PLUGINS, or
// beside the library that this code is in.
std::optional<std::string> own_plugin(const std::string& name) {
  const std::string file = "libswitchyard_" + name + ".so";
  if (auto found = search(file)) return found;
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&reject_library), &info) == 0) {
    return std::nullopt;
  }
  // Links are followed to the folder that the library was installed in.
  const std::string self = resolve(info.dli_fname).value_or(info.dli_fname);
  return resolve(self.substr(0, self.rfind('/') + 1) + file);
}

// The text after `before`, up to `after` or the end; "" without `before`.
std::string_view between(std::string_view text, std::string_view before,
                         std::string_view after) {
  const size_t at = text.find(before);
  if (at == text.npos) return {};
  text.remove_prefix(at + before.size());
  return text.substr(0, text.find(after));
}

[[noreturn]] void end_process(const std::string& path, const char* what) {
  std::fprintf(stderr,
               "switchyard: a static initialiser of %s threw, which no program "
               "survives: %s\n(`sy doctor` tries a library in a process of its "
               "own)\n",
               path.c_str(), what);
  std::abort();
}

}  // namespace

void reject_library(const std::string& path, const std::string& why) {
  throw RegistrationError(str("cannot load library {}: {}", path, why));
}

std::string why_not_opened(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return "no such file; check the path";
    case EACCES:
    case EPERM:
      return "this user may not read it; chmod +r it, and +x its folders";
    case ELOOP: return "the link leads back to itself; make it anew";
    case ENAMETOOLONG: return "the path is too long; check the path";
    default: return str("{}; check the path", std::strerror(error));
  }
}

std::string find_library(const std::string& path) {
  const bool is_name = path.find('/') == path.npos && !path.empty();
  // A word names a plugin, "lazy", whatever else has that name in the folder
  // where the program runs.
  const bool is_word = is_name && path.find('.') == path.npos;
  std::optional<std::string> found;
  if (is_word) found = own_plugin(path);
  // The current folder may be anybody's; SWITCHYARD_PLUGINS comes before it.
  if (!found && is_name) found = search(path);
  if (!found) found = resolve(path);
  const int error = errno;
  if (!found) {
    std::string why = why_not_opened(error);
    if (is_name && error == ENOENT) {
      why += *search_path() == '\0'
                 ? ", or name its folder in SWITCHYARD_PLUGINS"
                 : str("; nor is it in SWITCHYARD_PLUGINS={}", search_path());
    }
    reject_library(path, why);
  }
  const std::string why = why_untrusted(*found);
  if (!why.empty()) reject_library(*found, why);
  return *found;
}

std::string explain_dlopen(const std::string& path, const char* text) {
  const std::string_view said = text != nullptr ? text : "dlopen failed";
  const std::string_view missing =
      said.substr(0, said.find(": cannot open shared object file"));
  if (missing.size() < said.size() && missing != path) {
    return str(
        "it needs {}, which is not found; install it, or name its folder in "
        "LD_LIBRARY_PATH or in the library's rpath",
        missing);
  }
  const std::string_view symbol = between(said, "undefined symbol: ", ",");
  if (!symbol.empty()) {
    const std::string name(symbol.substr(0, symbol.find(" (")));
    return str(
        "nothing defines {}; link it to the library that does, and build it "
        "against this SDK",
        demangled(name.c_str()));
  }
  const std::string_view version = between(said, "version `", "'");
  if (!version.empty()) {
    return str(
        "it needs a newer system library: {} is not in the one that is "
        "installed; build it on a system as old as this one",
        version);
  }
  return str("{}; build it again against this SDK", said);
}

void* open_library(const std::string& path) {
  // Calls through a pointer, as dlopen is declared to throw nothing.
  void* (*volatile open)(const char*, int) = &dlopen;
  try {
    return open(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  } catch (const std::exception& e) {
    end_process(path, e.what());
  } catch (...) {
    end_process(path, "an exception of its own");
  }
}

}  // namespace sy
