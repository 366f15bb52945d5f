#pragma once

#include <cstddef>
#include <span>
#include <string_view>

// The keys of a file of operators: their order for `sygen fmt`, their values
// and meaning for the JSON Schema. A test compares them with the reader's.

namespace sy::codegen {

struct SchemaKey {
  std::string_view name;
  // A definition of the JSON Schema: "text", "expression" …
  std::string_view type;
  std::string_view doc;
};

// Of an operator, in the order in which they are written.
std::span<const SchemaKey> operator_keys();
// Of `reduce:`, `scan:`, `view:`, `promote:` and `forms:`.
std::span<const SchemaKey> reduce_keys();
std::span<const SchemaKey> scan_keys();
std::span<const SchemaKey> view_keys();
std::span<const SchemaKey> promote_keys();
std::span<const SchemaKey> form_keys();

// The position of a key of an operator; unknown ones come last.
std::size_t key_rank(std::string_view name);

}  // namespace sy::codegen
