#pragma once

#include <string_view>

#include "c10/tensor/scalar_type.h"

namespace sy::io {

// A dtype as safetensors names it. If Switchyard has no such dtype, scalar_type
// is Undefined, and the size is still known.
struct SafetensorsDtype {
  const char* name;
  uint8_t bits;
  ScalarType scalar_type;
};

// nullptr if the format has no dtype of that name.
const SafetensorsDtype* find_safetensors_dtype(std::string_view name);
// Throws TypeError for a dtype that the format does not have.
const SafetensorsDtype& safetensors_dtype(ScalarType t);

}  // namespace sy::io
