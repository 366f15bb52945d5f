#include "frontend/io/format/safetensors_dtype.h"

#include "c10/process/error.h"

namespace sy::io {

namespace {

constexpr SafetensorsDtype kDtypes[] = {
    {"BOOL", 8, kBool},
    {"U8", 8, kByte},
    {"I8", 8, kChar},
    {"I16", 16, kShort},
    {"I32", 32, kInt},
    {"I64", 64, kLong},
    {"F16", 16, kHalf},
    {"BF16", 16, kBFloat16},
    {"F32", 32, kFloat},
    {"F64", 64, kDouble},
    {"U16", 16, ScalarType::Undefined},
    {"U32", 32, ScalarType::Undefined},
    {"U64", 64, ScalarType::Undefined},
    {"C64", 64, ScalarType::Undefined},
    {"F8_E5M2", 8, ScalarType::Undefined},
    {"F8_E4M3", 8, ScalarType::Undefined},
    {"F8_E8M0", 8, ScalarType::Undefined},
    {"F6_E2M3", 6, ScalarType::Undefined},
    {"F6_E3M2", 6, ScalarType::Undefined},
    {"F4", 4, ScalarType::Undefined},
};

}  // namespace

const SafetensorsDtype* find_safetensors_dtype(std::string_view name) {
  for (const SafetensorsDtype& d : kDtypes) {
    if (name == d.name) return &d;
  }
  return nullptr;
}

const SafetensorsDtype& safetensors_dtype(ScalarType t) {
  for (const SafetensorsDtype& d : kDtypes) {
    if (d.scalar_type == t) return d;
  }
  fail(ErrorKind::Type, "safetensors has no dtype for {}", t);
}

}  // namespace sy::io
