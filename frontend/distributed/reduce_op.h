#pragma once

#include <cstdint>
#include <string_view>

#include "c10/macros.h"

namespace sy::distributed {

// How the elements of several ranks become one. AVG is SUM divided by the
// number of ranks: floating dtypes only. BAND, BOR and BXOR are for integers
// and bool; bool's SUM and MAX are "or", its PRODUCT and MIN are "and".
enum class ReduceOp : uint8_t { SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR };

// "sum", "avg", …: what operators take.
SY_API const char* name_of(ReduceOp op) noexcept;
// Throws ValueError, which lists the names there are.
SY_API ReduceOp reduce_op_of(std::string_view name);

}  // namespace sy::distributed
