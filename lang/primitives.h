#pragma once

#include <cstdint>
#include <string_view>

// The primitives that element programs are made of, by number. Their table is
// primitives.inc: the compiler of expressions (lang) takes names and types from
// it, and the CPU (backends/cpu/tiles) implements its rows.

namespace sy::lang {

enum class Prim : uint8_t {
#define SY_PRIM(name, ...) name,
#include "lang/primitives.inc"
  kCount
};

enum class PrimType : uint8_t {
  T_T,
  TT_T,
  TTT_T,
  T_B,
  TT_B,
  B_B,
  BB_B,
  BTT_T,
  B_T
};

enum class PrimDomain : uint8_t { ALL, NUM, INT, FLT };

struct PrimInfo {
  std::string_view name;
  PrimType type;
  PrimDomain domain;
};

inline constexpr PrimInfo kPrims[] = {
#define SY_PRIM(name, type, domain, ...) \
  {#name, PrimType::type, PrimDomain::domain},
#include "lang/primitives.inc"
};

// How many operands a primitive of this type takes.
constexpr int arity(PrimType t) {
  switch (t) {
    case PrimType::T_T:
    case PrimType::T_B:
    case PrimType::B_B:
    case PrimType::B_T: return 1;
    case PrimType::TT_T:
    case PrimType::TT_B:
    case PrimType::BB_B: return 2;
    default: return 3;
  }
}

}  // namespace sy::lang
