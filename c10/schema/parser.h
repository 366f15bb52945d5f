#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "c10/macros.h"
#include "c10/schema/function_schema.h"
#include "c10/schema/schema_error.h"

// The grammar is that of PyTorch's native_functions.yaml:
//
//   schema   := name '(' [argument {',' argument}] ')' '->' returns
//   name     := [ident '::'] ident ['.' ident]
//   argument := type ident ['=' default] | '*' | '...'
//   returns  := return | '(' [return {',' return}] ')' | '...'
//   return   := type [ident] | '...'
//   type     := base ['(' alias ')'] {'?' | '[' [size] ']'}
//   alias    := set ['!'] ['->' set]         set := letter {'|' letter} | '*'
//   default  := None | True | False | number | string | ident | '[' … ']'
//
// White space, also line ends, may stand between any tokens.

namespace sy {

struct ParseResult {
  std::optional<FunctionSchema> schema;  // empty after an error of grammar
  std::vector<SchemaError> errors;       // sorted by offset

  bool ok() const { return errors.empty(); }
};

// Throws SchemaError at the first error of grammar. It does not check what the
// signature means; check_schema() does.
SY_API FunctionSchema parse_schema(std::string_view text);

// The same without throwing; at most one error.
SY_API ParseResult try_parse_schema(std::string_view text);

// Parses and checks. Gives every error of check_schema(), at offsets into
// `text`.
SY_API ParseResult parse_and_check_schema(std::string_view text);

// Parse one part alone. Each throws SchemaError. A type has no alias annotation
// here.
SY_API OperatorName parse_operator_name(std::string_view text);
SY_API Type parse_type(std::string_view text);

}  // namespace sy
