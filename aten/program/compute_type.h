#pragma once

#include <cstddef>
#include <cstdint>

#include "c10/tensor/scalar_type.h"

// The types that registers of an element program hold.

namespace sy::program {

// b8 is a byte, 0 or 1.
enum class ComputeType : uint8_t { f32, f64, u8, i8, i16, i32, i64, b8 };
inline constexpr int kNumComputeTypes = 8;

constexpr size_t compute_type_size(ComputeType t) {
  constexpr uint8_t kSizes[] = {4, 8, 1, 1, 2, 4, 8, 1};
  return kSizes[static_cast<int>(t)];
}
// The dtype whose elements in memory are the same as those of the type.
constexpr ScalarType storage_of(ComputeType t) {
  constexpr ScalarType kTypes[] = {ScalarType::Float, ScalarType::Double,
                                   ScalarType::Byte,  ScalarType::Char,
                                   ScalarType::Short, ScalarType::Int,
                                   ScalarType::Long,  ScalarType::Bool};
  return kTypes[static_cast<int>(t)];
}
// The type in which a dtype is computed: f32 for Half and BFloat16.
constexpr ComputeType compute_type_of(ScalarType t) {
  switch (t) {
    case ScalarType::Byte: return ComputeType::u8;
    case ScalarType::Char: return ComputeType::i8;
    case ScalarType::Short: return ComputeType::i16;
    case ScalarType::Int: return ComputeType::i32;
    case ScalarType::Long: return ComputeType::i64;
    case ScalarType::Double: return ComputeType::f64;
    case ScalarType::Bool: return ComputeType::b8;
    default: return ComputeType::f32;
  }
}
constexpr bool is_floating(ComputeType t) {
  return t == ComputeType::f32 || t == ComputeType::f64;
}

}  // namespace sy::program
