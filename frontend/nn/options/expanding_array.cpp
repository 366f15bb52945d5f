#include "frontend/nn/options/expanding_array.h"

namespace sy::detail {

void wrong_number_of_values(size_t expected, size_t got) {
  fail(ErrorKind::Value, "[ExpandingArray] expected one value or {}, got {}",
       expected, got);
}

}  // namespace sy::detail
