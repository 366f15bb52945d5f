#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

// Facts of an object file about its unit of kernels, compiled with a section
// for each function and variable.

namespace fake_nvrtc {

struct ObjectFacts {
  std::vector<std::string> imports;      // symbols of others
  std::vector<std::string> symbols;      // its own
  std::map<std::string, size_t> shared;  // bytes, by kernel
  bool has_initialized_shared = false;   // a __shared__ variable with a value
};

// `bytes` is what g++ has written: it is trusted.
ObjectFacts facts_of(const std::string& bytes);

}  // namespace fake_nvrtc
