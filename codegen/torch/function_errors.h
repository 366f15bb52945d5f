#pragma once

#include <string_view>

#include "codegen/torch/model.h"
#include "lang/diagnostics.h"

// Private to the checks of native_functions.yaml.

namespace sy::codegen::torch {

// Reports the errors of one function. Both references outlive it.
class FunctionErrors {
 protected:
  FunctionErrors(const NativeFunction& f, lang::Diagnostics& diagnostics)
      : f_(f), diagnostics_(diagnostics) {}

  template <class... Args>
  void error(const lang::Location& at,
             fmt::format_string<const Args&...> format, const Args&... args) {
    diagnostics_.error(at, fmt::format(format, args...));
  }
  // Reports an error at a key of the function's entry.
  template <class... Args>
  void error(std::string_view key, fmt::format_string<const Args&...> format,
             const Args&... args) {
    error<Args...>(f_.place(key), format, args...);
  }

  const NativeFunction& f_;
  lang::Diagnostics& diagnostics_;
};

}  // namespace sy::codegen::torch
