#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "c10/macros.h"
#include "c10/schema/interned_string.h"

namespace sy {

namespace detail {

struct DefaultNode;

}  // namespace detail

// The literal after `=` in an argument: its spelling and what it means. Eight
// bytes; equal spellings share one node, which is never freed. It does not know
// the type of the argument: `1` is kInt for a `float` too. It converts to false
// if there is no default. Accessors need the kind that they are named for.
class SY_API DefaultValue {
 public:
  enum class Kind : std::uint8_t {
    kNone,        // None
    kBool,        // True, False
    kInt,         // -1
    kDouble,      // 1e-05, inf, -inf, nan
    kString,      // 'mean', "mean"
    kIdentifier,  // Mean, contiguous_format, long
    kList,        // [], [0,1]
  };

  constexpr DefaultValue() = default;
  // Throws SchemaError for bad grammar.
  static DefaultValue parse(std::string_view text);

  explicit operator bool() const { return node_ != nullptr; }
  Kind kind() const;
  bool is(Kind k) const { return node_ && kind() == k; }
  bool is_none() const { return is(Kind::kNone); }

  bool as_bool() const;
  std::int64_t as_int() const;
  // Also for kInt.
  double as_double() const;
  // The characters of a string without quotes and escapes; or the identifier.
  std::string_view as_string() const;
  std::span<const DefaultValue> items() const;

  // The text as written, apart from spaces.
  std::string_view str() const;
  // Whether both mean the same; `1e-5` and `1e-05` do, `1` and `1.0` do not.
  bool same_value(DefaultValue other) const;

  friend bool operator==(DefaultValue, DefaultValue) = default;

 private:
  friend struct detail::DefaultNode;
  explicit DefaultValue(const detail::DefaultNode* node) : node_(node) {}

  const detail::DefaultNode* node_ = nullptr;
};

namespace detail {

// A literal before it is shared; made by the parser only.
struct DefaultNode {
  DefaultValue::Kind kind = DefaultValue::Kind::kNone;
  std::int64_t integer = 0;
  double number = 0;
  InternedString string;
  InternedString text;
  const DefaultValue* items = nullptr;
  std::size_t item_count = 0;

  // Keeps a copy of `node` and of its items for ever.
  static DefaultValue share(const DefaultNode& node);
};

}  // namespace detail
}  // namespace sy
