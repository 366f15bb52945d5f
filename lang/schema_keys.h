#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

// The keys of a file of operators: what the reader takes, their order for
// `sygen fmt`, their values and meaning for the JSON Schema, and which of them
// PyTorch's files have.

namespace sy::lang {

struct SchemaKey {
  enum Origin : std::uint8_t {
    kOwn,
    kShared,  // PyTorch's, with the same meaning here
    kTorch,   // PyTorch's, which no entry of ours needs
  };
  std::string_view name;
  // A definition of the JSON Schema: "text", "expression" …
  std::string_view type;
  std::string_view doc;
  Origin origin = kOwn;
};

// The keys of an operator, in the order in which they are written.
std::span<const SchemaKey> operator_keys();
// The keys of `reduce:`, `scan:`, `view:`, `promote:` and `forms:`.
std::span<const SchemaKey> reduce_keys();
std::span<const SchemaKey> scan_keys();
std::span<const SchemaKey> view_keys();
std::span<const SchemaKey> promote_keys();
std::span<const SchemaKey> form_keys();

std::vector<std::string_view> names_of(std::span<const SchemaKey> keys);
// The key of an operator; null if there is no such key.
const SchemaKey* find_key(std::string_view name);
// The position of a key of an operator; unknown ones come last.
std::size_t key_rank(std::string_view name);

}  // namespace sy::lang
