#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "c10/macros.h"
#include "c10/scalar_type_gen.h"
#include "c10/tensor/half.h"

// Element types: names, sizes, categories, promotion. The list itself is
// schemas/dtypes.yaml.

namespace sy {

// Code that moves elements by their size alone takes sizes of 1, 2, 4, 8 and 16
// bytes, even those that no dtype has.
inline constexpr size_t kMaxElementSize = 16;

constexpr size_t element_size(ScalarType t) {
  return kScalarTypeInfo[static_cast<int>(t)].size;
}
constexpr const char* dtype_name(ScalarType t) {
  return kScalarTypeInfo[static_cast<int>(t)].name;
}
constexpr bool is_floating_type(ScalarType t) {
  return kScalarTypeInfo[static_cast<int>(t)].category == 2;
}
constexpr bool is_integral_type(ScalarType t, bool include_bool) {
  const uint8_t c = kScalarTypeInfo[static_cast<int>(t)].category;
  return t != ScalarType::Undefined && (c == 1 || (c == 0 && include_bool));
}
constexpr bool is_reduced_floating_type(ScalarType t) {
  return t == ScalarType::Half || t == ScalarType::BFloat16;
}
constexpr bool is_signed_type(ScalarType t) {
  return t != ScalarType::Byte && t != ScalarType::Bool;
}

// The type that both arguments promote to by PyTorch's rules; Undefined if one
// of them is.
constexpr ScalarType promote_types(ScalarType a, ScalarType b) {
  if (a == ScalarType::Undefined || b == ScalarType::Undefined) {
    return ScalarType::Undefined;
  }
  return static_cast<ScalarType>(
      kPromoteTypes[static_cast<int>(a)][static_cast<int>(b)]);
}
// Whether a result of type `from` may be stored in a tensor of type `to`.
constexpr bool can_cast(ScalarType from, ScalarType to) {
  const auto category = [](ScalarType t) {
    return kScalarTypeInfo[static_cast<int>(t)].category;
  };
  return category(from) <= category(to);
}

inline std::string to_string(ScalarType t) { return dtype_name(t); }
SY_API std::ostream& operator<<(std::ostream& out, ScalarType t);
// Parses "float32", "Float" or "float"; nullopt if no type has that name.
SY_API std::optional<ScalarType> parse_scalar_type(std::string_view name);

// CppTypeToScalarType<float>::value == kFloat.
template <class T>
struct CppTypeToScalarType;
template <ScalarType t>
struct ScalarTypeToCppType;
#define SY_MAP_TYPE(cpp, Enum)                            \
  template <>                                             \
  struct CppTypeToScalarType<cpp> {                       \
    static constexpr ScalarType value = ScalarType::Enum; \
  };                                                      \
  template <>                                             \
  struct ScalarTypeToCppType<ScalarType::Enum> {          \
    using type = cpp;                                     \
  };
SY_FORALL_SCALAR_TYPES(SY_MAP_TYPE)
#undef SY_MAP_TYPE

// The type of floating results if the caller names none: float32 unless set.
// Process-wide, thread-safe. set_default_dtype throws TypeError for other
// types.
SY_API ScalarType default_dtype() noexcept;
SY_API void set_default_dtype(ScalarType t);

}  // namespace sy
