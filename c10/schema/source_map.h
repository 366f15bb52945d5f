#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "c10/schema/function_schema.h"
#include "c10/schema/schema_error.h"

// Private to the library: finds the place of a fault in the text that a schema
// came from.

namespace sy::detail {

enum class FaultPlace : std::uint8_t {
  kName,
  kOverload,
  kArgument,
  kArgumentName,
  kDefault,
  kReturn,
  kReturnName,
};

struct Fault {
  FaultPlace place;
  std::uint16_t index;  // of the argument or the return
  std::string message;
};

// The starts of the parts of a parsed text.
struct SourceMap {
  struct Part {
    std::uint32_t start = 0;
    std::uint32_t name = 0;
    std::uint32_t default_value = 0;
  };

  std::uint32_t name = 0;
  std::uint32_t overload = 0;
  std::vector<Part> arguments;
  std::vector<Part> returns;

  std::uint32_t offset(FaultPlace place, std::uint16_t index) const;
};

FunctionSchema parse_mapped(std::string_view text, SourceMap* map);
std::vector<Fault> find_faults(const FunctionSchema& schema);
std::vector<SchemaError> locate(std::vector<Fault> faults,
                                const SourceMap& map);

}  // namespace sy::detail
