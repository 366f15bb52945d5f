#pragma once

#include <cstdint>

#include "lang/primitives.h"

// The parts of a step of an element program, shared by the compiler that makes
// steps (program.h) and the code that runs them (aten/program/program.h).
// Depends on std alone.

namespace sy::lang {

// kValue: the compute type T. kBool: a byte, 0 or 1.
enum class RegClass : std::uint8_t { kValue, kBool };

// dst = op(a, b, c); operands beyond the arity are 0.
struct Step {
  Prim op;
  std::uint8_t dst = 0;
  std::uint8_t a = 0;
  std::uint8_t b = 0;
  std::uint8_t c = 0;

  friend bool operator==(const Step&, const Step&) = default;
};

inline constexpr int arity(const Step& s) {
  return arity(kPrims[static_cast<int>(s.op)].type);
}

// The register that holds a result at the end.
struct Result {
  std::uint8_t reg = 0;
  bool is_bool = false;  // of RegClass::kBool

  friend bool operator==(const Result&, const Result&) = default;
};

}  // namespace sy::lang
