#include "c10/schema/default_value.h"

#include <algorithm>
#include <cassert>
#include <mutex>
#include <unordered_map>

namespace sy {
namespace {

using detail::DefaultNode;

struct Table {
  std::mutex mutex;
  std::unordered_map<std::string_view, const DefaultNode*> nodes;
};

Table& table() {
  // Leaked: defaults outlive every static destructor that may hold one.
  static Table* const nodes = new Table;
  return *nodes;
}

}  // namespace

DefaultValue DefaultNode::share(const DefaultNode& node) {
  Table& t = table();
  std::lock_guard lock(t.mutex);
  const DefaultNode*& shared = t.nodes[node.text.view()];
  if (!shared) {
    auto* copy = new DefaultNode(node);
    if (node.item_count) {
      auto* items = new DefaultValue[node.item_count];
      std::copy_n(node.items, node.item_count, items);
      copy->items = items;
    }
    shared = copy;
  }
  return DefaultValue(shared);
}

DefaultValue::Kind DefaultValue::kind() const {
  assert(node_);
  return node_->kind;
}

bool DefaultValue::as_bool() const {
  assert(is(Kind::kBool));
  return node_->integer != 0;
}

std::int64_t DefaultValue::as_int() const {
  assert(is(Kind::kInt));
  return node_->integer;
}

double DefaultValue::as_double() const {
  assert(is(Kind::kInt) || is(Kind::kDouble));
  return is(Kind::kInt) ? static_cast<double>(node_->integer) : node_->number;
}

std::string_view DefaultValue::as_string() const {
  assert(is(Kind::kString) || is(Kind::kIdentifier));
  return node_->string;
}

std::span<const DefaultValue> DefaultValue::items() const {
  assert(is(Kind::kList));
  return {node_->items, node_->item_count};
}

std::string_view DefaultValue::str() const {
  return node_ ? node_->text.view() : std::string_view();
}

bool DefaultValue::same_value(DefaultValue other) const {
  if (node_ == other.node_) return true;
  if (!node_ || !other.node_ || kind() != other.kind()) return false;
  switch (kind()) {
    case Kind::kNone: return true;
    case Kind::kBool:
    case Kind::kInt: return node_->integer == other.node_->integer;
    case Kind::kDouble: return node_->number == other.node_->number;
    case Kind::kString:
    case Kind::kIdentifier: return node_->string == other.node_->string;
    case Kind::kList:
      return std::ranges::equal(
          items(), other.items(),
          [](DefaultValue a, DefaultValue b) { return a.same_value(b); });
  }
  return false;
}

}  // namespace sy
