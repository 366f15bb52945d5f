#include "c10/process/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace sy {

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : name;
}

}  // namespace sy
