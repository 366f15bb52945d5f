#include "codegen/emit/layout.h"

namespace sy::codegen {

std::string dim_order(const Operator& op, std::size_t i) {
  if (op.has_tag("format_of_self")) return "DimOrder::like(self)";
  if (op.has_tag("format_of_grad_output")) {
    return "DimOrder::like(grad_output)";
  }
  if (op.has_tag("heads_inside") && i == 0) return "DimOrder({0, 2, 1, 3})";
  return "";
}

}  // namespace sy::codegen
