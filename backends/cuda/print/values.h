#pragma once

#include <string>
#include <string_view>

#include "aten/program/compute_type.h"
#include "backends/cuda/print/body.h"
#include "c10/process/error.h"

// Expressions between memory, registers and the numbers of a call
// (device/element.cuh).

namespace sy::cuda::print {

// An element of memory as a register of `type`; as a truth value if `is_bool`.
inline std::string loaded(std::string_view element, program::ComputeType type,
                          bool is_bool) {
  if (is_bool || type == program::ComputeType::b8) {
    return str("load_bool({})", element);
  }
  return str("load_value<{}>({})", type_name(type), element);
}
// A register as an element.
inline std::string stored(std::string_view value, program::ComputeType type,
                          bool is_bool, ScalarType to) {
  if (is_bool || type == program::ComputeType::b8) {
    return str("store_bool<{}>({})", element_name(to), value);
  }
  return str("store_value<{}>({})", element_name(to), value);
}
// The member of Number (device/number.cuh) that holds a register.
inline std::string_view member_of(program::ComputeType type) {
  constexpr std::string_view kMembers[] = {"f32", "f64", "u8",  "i8",
                                           "i16", "i32", "i64", "b8"};
  return kMembers[static_cast<int>(type)];
}

}  // namespace sy::cuda::print
