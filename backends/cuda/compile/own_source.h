#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "c10/tensor/scalar_type.h"

// The text of a kernel that a program wrote: a function of CUDA C++ with the
// parameters that it likes. <sy/cuda.h> has the contract.

namespace sy::cuda {

struct OwnParameter {
  enum Kind : uint8_t { kPointer, kSigned, kUnsigned, kFloat, kBool };

  std::string name;  // "argument 2" if it has none
  std::string type;  // "const float*"
  Kind kind = kPointer;
  uint8_t bytes = 8;
  bool is_const = false;              // of what a pointer points to
  std::optional<ScalarType> element;  // of a pointer; none: of any type
  size_t offset = 0;                  // in the argument of the launch
};

struct OwnSource {
  std::string name;
  std::string symbol;   // of the kernel that calls the function
  std::string kernels;  // for printed_unit()
  unsigned threads = 1024;
  std::vector<OwnParameter> parameters;
  size_t params_bytes = 0;
};

// Finds the function and its parameters. Lines of the text keep their numbers
// in messages of the compiler, and its file is `name`.cu. Throws ValueError for
// a text without such a function, and for types that no argument can have.
OwnSource read_own_source(std::string_view text, std::string_view name);

}  // namespace sy::cuda
