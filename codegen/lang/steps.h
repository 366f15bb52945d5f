#pragma once

#include <cstdint>

#include "codegen/lang/primitives.h"

// What steps of element programs are made of, alike for the compiler that
// makes them (program.h) and for those who run them (aten/program/program.h).
// Stands on std alone.

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
