#include "c10/tensor/array_ref.h"

namespace sy {

std::string to_string(IntArrayRef list) {
  std::string out = "[";
  for (size_t i = 0; i < list.size(); ++i) {
    if (i != 0) out += ", ";
    out += std::to_string(list[i]);
  }
  return out + "]";
}

}  // namespace sy
