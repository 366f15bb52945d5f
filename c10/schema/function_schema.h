#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "c10/macros.h"
#include "c10/schema/alias_info.h"
#include "c10/schema/default_value.h"
#include "c10/schema/interned_string.h"
#include "c10/schema/type.h"

// The signature of an operator as a value: all that `add.Tensor(Tensor self, …)
// -> Tensor` says, and nothing about C++. The process shares names, types and
// defaults, so a signature costs two small heap blocks. Several threads may
// read the same object.

namespace sy {

// `aten::add.Tensor`; namespace and overload may be empty.
struct OperatorName {
  InternedString ns;
  InternedString name;
  InternedString overload;

  // Whether this is the name of a form that writes its `self`: `add_`, or
  // `__iadd__` of Python's augmented assignments.
  SY_API bool is_inplace() const;
  // Whether the name has two underscores on both sides, like `__and__`.
  SY_API bool is_dunder() const;
  // The name without the in-place mark: `add` for `add_`, `__and__` for
  // `__iand__`.
  SY_API std::string functional_name() const;

  friend bool operator==(const OperatorName&, const OperatorName&) = default;
};

struct Argument {
  InternedString name;
  Type type;
  AliasInfo alias;
  DefaultValue default_value;
  bool kwarg_only = false;

  bool is_write() const { return alias.is_write(); }
  // Whether this is a written keyword argument: an `out=` form puts its result
  // there.
  bool is_out() const { return kwarg_only && is_write(); }

  friend bool operator==(const Argument&, const Argument&) = default;
};

struct Return {
  InternedString name;  // empty if it has none
  Type type;
  AliasInfo alias;

  friend bool operator==(const Return&, const Return&) = default;
};

enum class SchemaKind : std::uint8_t {
  kFunctional,
  kInplace,  // writes `self`, as its name says
  kOut,      // has out arguments
  kMutable,  // writes some other argument
};

class SY_API FunctionSchema {
 public:
  // Checks nothing; check_schema() does that. Positional arguments must come
  // before keyword-only ones.
  FunctionSchema(OperatorName name, std::vector<Argument> arguments,
                 std::vector<Return> returns, bool is_vararg = false,
                 bool is_varret = false);

  const OperatorName& name() const { return name_; }
  std::span<const Argument> arguments() const { return arguments_; }
  std::span<const Return> returns() const { return returns_; }
  // Whether there is `...` after the last argument, or in place of more
  // returns.
  bool is_vararg() const { return is_vararg_; }
  bool is_varret() const { return is_varret_; }

  std::size_t num_positional() const { return num_positional_; }
  // How many arguments of an `out=` form receive results; they come last.
  std::size_t num_out() const { return num_out_; }
  std::span<const Argument> out_arguments() const {
    return arguments().last(num_out_);
  }

  SchemaKind kind() const { return kind_; }
  bool is_functional() const { return kind_ == SchemaKind::kFunctional; }
  bool is_inplace() const { return kind_ == SchemaKind::kInplace; }
  bool is_out() const { return kind_ == SchemaKind::kOut; }
  // Whether any argument is written.
  bool is_mutable() const { return is_mutable_; }

  // The position in arguments(), or -1.
  int argument_index(std::string_view name) const;
  // The position of the positional argument named `self`, or -1.
  int self_index() const;
  // The position of the first argument that shares an alias set with the
  // return, or -1.
  int aliased_argument(std::size_t return_index) const;

  // The same signature under another name.
  FunctionSchema with_name(OperatorName name) const;

  // Heap bytes of this object, without the shared names and types.
  std::size_t heap_bytes() const;

  friend bool operator==(const FunctionSchema&,
                         const FunctionSchema&) = default;

 private:
  OperatorName name_;
  std::vector<Argument> arguments_;
  std::vector<Return> returns_;
  std::uint16_t num_positional_ = 0;
  std::uint16_t num_out_ = 0;
  SchemaKind kind_ = SchemaKind::kFunctional;
  bool is_mutable_ = false;
  bool is_vararg_ = false;
  bool is_varret_ = false;
};

// Canonical text. parse_schema(to_string(s)) == s for a schema that was parsed.
SY_API std::string to_string(const FunctionSchema& schema);
SY_API std::string to_string(const OperatorName& name);
SY_API std::string to_string(const Argument& argument);
SY_API std::string to_string(const Return& ret);
// `a! -> a|b`, without parentheses.
SY_API std::string to_string(AliasInfo alias);

}  // namespace sy
