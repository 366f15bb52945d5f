#pragma once

#include <string>

#include "codegen/emit/common.h"

namespace sy::codegen {

// How result `i` of a structured operator lies in memory by the operator's
// tags, as a DimOrder; "" for row-major.
std::string dim_order(const Operator& op, std::size_t i);

}  // namespace sy::codegen
