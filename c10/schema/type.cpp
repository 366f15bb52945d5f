#include "c10/schema/type.h"

#include <array>
#include <atomic>
#include <cassert>
#include <mutex>
#include <string>

namespace sy {
namespace {

using detail::TypeNode;

constexpr std::size_t kBaseKinds = static_cast<std::size_t>(TypeKind::kClass);

constexpr std::array<std::string_view, kBaseKinds> kBaseNames = {
    "Tensor",      "Scalar",       "int",
    "SymInt",      "float",        "SymFloat",
    "bool",        "SymBool",      "str",
    "ScalarType",  "Layout",       "Device",
    "DeviceIndex", "MemoryFormat", "Generator",
    "Dimname",     "DimVector",    "QScheme",
    "Storage",     "Stream",       "ConstQuantizerPtr",
    "GraphModule", "Any"};

// The types made of one type, as a list that only grows: readers walk it
// without a lock.
struct TreeNode : TypeNode {
  std::atomic<TreeNode*> first_child{nullptr};
  TreeNode* next_sibling = nullptr;
};

struct TypeTable {
  std::array<TreeNode, kBaseKinds> base;
  TreeNode classes;  // parent of the class types
  std::mutex mutex;

  TypeTable() {
    for (std::size_t i = 0; i < kBaseKinds; ++i) {
      base[i].kind = static_cast<TypeKind>(i);
      base[i].size = 0;
      base[i].element = nullptr;
      base[i].base = &base[i];
      base[i].text = kBaseNames[i];
    }
  }

  template <class Matches, class Fill>
  TreeNode* child(TreeNode* parent, Matches matches, Fill fill) {
    if (TreeNode* found = find(parent, matches)) return found;
    std::lock_guard lock(mutex);
    if (TreeNode* found = find(parent, matches)) return found;
    TreeNode* node = new TreeNode;
    fill(node);
    node->next_sibling = parent->first_child.load(std::memory_order_relaxed);
    parent->first_child.store(node, std::memory_order_release);
    return node;
  }

 private:
  template <class Matches>
  static TreeNode* find(const TreeNode* parent, Matches matches) {
    TreeNode* node = parent->first_child.load(std::memory_order_acquire);
    while (node && !matches(node)) node = node->next_sibling;
    return node;
  }
};

TypeTable& table() {
  // Leaked: types outlive every static destructor that may hold one.
  static TypeTable* const types = new TypeTable;
  return *types;
}

const TypeNode* compound(const TypeNode* element, TypeKind kind, int size) {
  // Every node was made by this file as a TreeNode, never shared as const data.
  TreeNode* parent = static_cast<TreeNode*>(const_cast<TypeNode*>(element));
  return table().child(
      parent,
      [&](const TreeNode* n) { return n->kind == kind && n->size == size; },
      [&](TreeNode* n) {
        std::string text(element->text.view());
        if (kind == TypeKind::kOptional) {
          text += '?';
        } else {
          text += '[' + (size ? std::to_string(size) : std::string()) + ']';
        }
        n->kind = kind;
        n->size = size;
        n->element = element;
        n->base = element->base;
        n->text = InternedString(text);
      });
}

}  // namespace

std::span<const std::string_view> base_type_names() { return kBaseNames; }

const TypeNode* detail::base_type_node(TypeKind kind) {
  assert(kind < TypeKind::kClass);
  return &table().base[static_cast<std::size_t>(kind)];
}

std::optional<Type> Type::base_named(std::string_view name) {
  for (std::size_t i = 0; i < kBaseKinds; ++i) {
    if (kBaseNames[i] == name) return Type(static_cast<TypeKind>(i));
  }
  return std::nullopt;
}

Type Type::class_named(std::string_view name) {
  return Type(table().child(
      &table().classes, [&](const TreeNode* n) { return n->text == name; },
      [&](TreeNode* n) {
        n->kind = TypeKind::kClass;
        n->size = 0;
        n->element = nullptr;
        n->base = n;
        n->text = InternedString(name);
      }));
}

Type Type::list_of(Type element, int size) {
  assert(size >= 0 && size <= kMaxListSize);
  return Type(compound(element.node_, TypeKind::kList, size));
}

Type Type::optional_of(Type element) {
  return Type(compound(element.node_, TypeKind::kOptional, 0));
}

}  // namespace sy
