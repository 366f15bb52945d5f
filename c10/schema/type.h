#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "c10/macros.h"
#include "c10/schema/interned_string.h"

namespace sy {

enum class TypeKind : std::uint8_t {
  kTensor,
  kScalar,
  kInt,
  kSymInt,
  kFloat,
  kSymFloat,
  kBool,
  kSymBool,
  kStr,
  kScalarType,
  kLayout,
  kDevice,
  kDeviceIndex,
  kMemoryFormat,
  kGenerator,
  kDimname,
  kDimVector,
  kQScheme,
  kStorage,
  kStream,
  kConstQuantizerPtr,
  kGraphModule,
  kAny,
  // The base kinds end here. The factories of Type make the others.
  kClass,
  kList,
  kOptional,
};

// The spellings of the base kinds, in the order of TypeKind.
SY_API std::span<const std::string_view> base_type_names();

namespace detail {

struct TypeNode {
  TypeKind kind;
  std::int32_t size;        // of a fixed-size list, else 0
  const TypeNode* element;  // of a list or an optional, else null
  const TypeNode* base;     // the innermost element; a base type is its own
  InternedString text;
};

SY_API const TypeNode* base_type_node(TypeKind kind);

}  // namespace detail

// A type of the signature grammar: eight bytes, compared by address. Equal
// spellings share one node, which is never freed. Any thread may make one.
class SY_API Type {
 public:
  static constexpr int kMaxListSize = 32767;

  // `kind` must be a base kind.
  Type(TypeKind kind) : node_(detail::base_type_node(kind)) {}
  // The base kind with that spelling, if there is one.
  static std::optional<Type> base_named(std::string_view name);
  // `name` is the whole dotted name, `__torch__.torch.classes.ns.Class`.
  static Type class_named(std::string_view name);
  // `size` 0 is `T[]`, else `T[size]`.
  static Type list_of(Type element, int size = 0);
  static Type optional_of(Type element);

  TypeKind kind() const { return node_->kind; }
  bool is_list() const { return kind() == TypeKind::kList; }
  bool is_optional() const { return kind() == TypeKind::kOptional; }
  // Only for a list or an optional.
  Type element() const { return Type(node_->element); }
  // The N of `T[N]`; 0 for every other type.
  int size() const { return node_->size; }
  // The type without any `[]` and `?`.
  Type base() const { return Type(node_->base); }
  // `T` for `T?`, the type itself otherwise.
  Type without_optional() const { return is_optional() ? element() : *this; }
  // Whether this is Tensor, or a list or optional of it.
  bool is_tensor_like() const { return node_->base->kind == TypeKind::kTensor; }
  // The spelling, as in a signature.
  std::string_view str() const { return node_->text.view(); }

  friend bool operator==(Type, Type) = default;
  friend bool operator==(Type a, TypeKind b) { return a.kind() == b; }

 private:
  explicit Type(const detail::TypeNode* node) : node_(node) {}

  const detail::TypeNode* node_;
};

}  // namespace sy
