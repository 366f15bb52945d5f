#include "tools/sy/support/exception_text.h"

#include <exception>
#include <typeinfo>

#include "c10/process/demangle.h"
#include "c10/process/error.h"

namespace sy::tools {

namespace {

std::string type_name(const std::exception& e) {
  const std::string text = demangled(typeid(e).name());
  return text.substr(text.rfind("sy::", 0) == 0 ? 4 : 0);
}

}  // namespace

std::string current_exception_text() {
  try {
    throw;
  } catch (const std::exception& e) {
    return str("{}: {}", type_name(e), e.what());
  } catch (...) {
    return "something that is no std::exception";
  }
}

}  // namespace sy::tools
