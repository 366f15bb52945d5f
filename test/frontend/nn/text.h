#pragma once

#include <sstream>
#include <string>

#include "frontend/nn/module.h"

namespace sy::test {

inline std::string printed(const nn::Module& module) {
  std::ostringstream out;
  out << module;
  return out.str();
}
template <class M>
std::string printed(const nn::ModuleHolder<M>& holder) {
  return printed(*holder);
}

// The text of the ValueError that a function throws.
template <class F>
std::string value_error(F f) {
  try {
    f();
  } catch (const ValueError& e) {
    return e.what();
  }
  return "no ValueError";
}

}  // namespace sy::test
