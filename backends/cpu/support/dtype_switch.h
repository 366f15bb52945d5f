#pragma once

#include "backends/cpu/tiles/element16.h"
#include "c10/process/error.h"
#include "c10/tensor/scalar_type.h"

// These call f.operator()<T>() for the C++ type of a dtype.

namespace sy::cpu {

template <class F>
decltype(auto) visit_all_dtypes(const char* op, ScalarType t, const F& f) {
  switch (t) {
#define SY_VISIT(T, Enum) \
  case ScalarType::Enum: return f.template operator()<T>();
    SY_FORALL_SCALAR_TYPES(SY_VISIT)
#undef SY_VISIT
    default: break;
  }
  fail(ErrorKind::Type, "[{}] self: expected a dtype, got {}", op, t);
}

template <class F>
decltype(auto) visit_floating_dtypes(const char* op, ScalarType t, const F& f) {
  switch (t) {
    case kHalf: return f.template operator()<Half>();
    case kBFloat16: return f.template operator()<BFloat16>();
    case kFloat: return f.template operator()<float>();
    case kDouble: return f.template operator()<double>();
    default: break;
  }
  fail(ErrorKind::Type, "[{}] self: expected a floating dtype, got {}", op, t);
}

// Selects by the size of an element, for kernels that only move elements. T is
// an unsigned integer, or a struct of 16 bytes.
template <class F>
decltype(auto) visit_element_size(size_t size, const F& f) {
  switch (size) {
    case 1: return f.template operator()<uint8_t>();
    case 2: return f.template operator()<uint16_t>();
    case 4: return f.template operator()<uint32_t>();
    case 16: return f.template operator()<tiles::Element16>();
    default: return f.template operator()<uint64_t>();
  }
}

// The type in which T is summed.
template <class T>
struct Accumulate {
  using type = T;
};
template <>
struct Accumulate<Half> {
  using type = float;
};
template <>
struct Accumulate<BFloat16> {
  using type = float;
};

}  // namespace sy::cpu
