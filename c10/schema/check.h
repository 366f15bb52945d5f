#pragma once

#include <vector>

#include "c10/macros.h"
#include "c10/schema/function_schema.h"
#include "c10/schema/schema_error.h"

namespace sy {

// Checks the rules beyond grammar that code generation and the dispatcher rely
// on: names are distinct, defaults fit their types and come last, alias sets of
// returns are those of arguments, in-place forms write and return `self`, out
// arguments come last and are the returns. Offsets are into to_string(schema);
// for offsets into a text use parse_and_check_schema.
SY_API std::vector<SchemaError> check_schema(const FunctionSchema& schema);

}  // namespace sy
