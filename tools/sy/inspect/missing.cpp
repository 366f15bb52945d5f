#include "tools/sy/inspect/missing.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "c10/process/demangle.h"
#include "tools/sy/support/child.h"

namespace sy::tools {

namespace {

constexpr unsigned kSeconds = 60;
constexpr const char* kLoader = "/lib64/ld-linux-x86-64.so.2";

// The text between two parts of a line; "" if they are not there.
std::string between(std::string_view line, std::string_view before,
                    std::string_view after) {
  const size_t at = line.find(before);
  const size_t end =
      at == line.npos ? at : line.find(after, at + before.size());
  if (end == line.npos) return "";
  return std::string(line.substr(at + before.size(), end - at - before.size()));
}

// Does what ldd does: the loader lists what it would load, and all relocations
// that it cannot do.
std::string list(const std::string& path) {
  return in_child(kSeconds,
                  [&]() -> std::string {
                    setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
                    setenv("LD_WARN", "yes", 1);
                    setenv("LD_BIND_NOW", "yes", 1);
                    execl(kLoader, kLoader, path.c_str(), nullptr);
                    return "";
                  })
      .said;
}

void add(std::vector<std::string>& out, const std::string& what) {
  if (std::find(out.begin(), out.end(), what) == out.end()) out.push_back(what);
}

}  // namespace

std::vector<std::string> missing_of(const std::string& path) {
  std::vector<std::string> libraries, symbols;
  std::istringstream lines(list(path));
  for (std::string line; std::getline(lines, line);) {
    const std::string library = between(line, "\t", " => not found");
    const std::string version = between(line, "version `", "' not found");
    std::string symbol = between(line, "undefined symbol: ", "\t");
    symbol = symbol.substr(0, symbol.find(','));
    if (!library.empty()) add(libraries, "library " + library);
    if (!version.empty()) add(libraries, "version " + version);
    if (!symbol.empty() && dlsym(RTLD_DEFAULT, symbol.c_str()) == nullptr) {
      add(symbols, "symbol " + demangled(symbol.c_str()));
    }
  }
  // Missing symbols may be those of the missing libraries.
  return libraries.empty() ? symbols : libraries;
}

}  // namespace sy::tools
