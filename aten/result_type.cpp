#include "aten/result_type.h"

namespace sy {

namespace {

// Undefined is the neutral element here.
ScalarType join(ScalarType a, ScalarType b) {
  if (a == ScalarType::Undefined) return b;
  if (b == ScalarType::Undefined) return a;
  return promote_types(a, b);
}

int category(ScalarType t) {
  return t == ScalarType::Undefined
             ? -1
             : kScalarTypeInfo[static_cast<int>(t)].category;
}

// `low` counts beside `high` only with a higher category.
ScalarType combine(ScalarType high, ScalarType low) {
  return category(low) > category(high) ? join(high, low) : high;
}

}  // namespace

ScalarType result_type(TensorList tensors) {
  ScalarType dims = ScalarType::Undefined;
  ScalarType zero = ScalarType::Undefined;
  ScalarType wrapped = ScalarType::Undefined;
  for (const Tensor& t : tensors) {
    if (!t.defined()) continue;
    ScalarType dtype = t.scalar_type();
    if (t.impl()->is_wrapped_number()) {
      if (is_floating_type(dtype)) dtype = default_dtype();
      wrapped = join(wrapped, dtype);
    } else {
      ScalarType& group = t.dim() == 0 ? zero : dims;
      group = join(group, dtype);
    }
  }
  const ScalarType result = combine(dims, combine(zero, wrapped));
  SY_CHECK(result != ScalarType::Undefined, Value,
           "[result_type] tensors: expected at least one tensor, got none");
  return result;
}

}  // namespace sy
