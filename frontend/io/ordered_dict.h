#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "c10/process/error.h"

namespace sy {

namespace detail {
[[noreturn]] SY_API SY_COLD void key_twice(std::string_view key);
[[noreturn]] SY_API SY_COLD void no_such_key(std::string_view key, size_t size);
[[noreturn]] SY_API SY_COLD void no_such_index(size_t index, size_t size);
}  // namespace detail

// Values by key, in the order in which they were inserted. Each key stands
// once. Keys are strings. Search takes the logarithm of the size.
template <class Key, class Value>
class OrderedDict {
 public:
  // A pair, `const auto& [key, value] = item`, that libtorch's programs can
  // read as well.
  struct Item : std::pair<Key, Value> {
    using std::pair<Key, Value>::pair;
    const Key& key() const { return this->first; }
    Value& value() { return this->second; }
    const Value& value() const { return this->second; }
    Value* operator->() { return &this->second; }
    const Value* operator->() const { return &this->second; }
    Value& operator*() { return this->second; }
    const Value& operator*() const { return this->second; }
    const std::pair<Key, Value>& pair() const { return *this; }
  };
  using Entry = Item;

  OrderedDict() = default;
  // Throws ValueError for a key that stands twice.
  OrderedDict(std::initializer_list<Item> items)
      : OrderedDict(std::vector<Item>(items)) {}
  explicit OrderedDict(std::vector<Item> items) : items_(std::move(items)) {
    sorted_.resize(items_.size());
    for (uint32_t i = 0; i < sorted_.size(); ++i) sorted_[i] = i;
    std::sort(sorted_.begin(), sorted_.end(), [&](uint32_t a, uint32_t b) {
      return items_[a].first < items_[b].first;
    });
    for (size_t i = 1; i < sorted_.size(); ++i) {
      const Key& key = items_[sorted_[i]].first;
      if (items_[sorted_[i - 1]].first == key) detail::key_twice(key);
    }
  }

  // Adds a value at the end. Throws ValueError if the key is there.
  Value& insert(Key key, Value value) {
    const size_t at = place(key);
    if (is_at(at, key)) detail::key_twice(key);
    sorted_.insert(sorted_.begin() + static_cast<int64_t>(at),
                   static_cast<uint32_t>(items_.size()));
    return items_.emplace_back(std::move(key), std::move(value)).second;
  }
  // Throws IndexError if the key is not there.
  void erase(std::string_view key) {
    const size_t at = place(key);
    if (!is_at(at, key)) detail::no_such_key(key, size());
    const uint32_t gone = sorted_[at];
    sorted_.erase(sorted_.begin() + static_cast<int64_t>(at));
    items_.erase(items_.begin() + gone);
    for (uint32_t& i : sorted_) i -= i > gone;
  }
  void clear() {
    items_.clear();
    sorted_.clear();
  }
  void reserve(size_t n) {
    items_.reserve(n);
    sorted_.reserve(n);
  }

  bool contains(std::string_view key) const { return find(key) != nullptr; }
  // nullptr if the key is not there.
  const Value* find(std::string_view key) const {
    const size_t at = place(key);
    return is_at(at, key) ? &items_[sorted_[at]].second : nullptr;
  }
  Value* find(std::string_view key) {
    const size_t at = place(key);
    return is_at(at, key) ? &items_[sorted_[at]].second : nullptr;
  }
  // Throw IndexError if the key, or the place, is not there.
  const Value& operator[](std::string_view key) const {
    const Value* const found = find(key);
    if (found == nullptr) detail::no_such_key(key, size());
    return *found;
  }
  Value& operator[](std::string_view key) {
    Value* const found = find(key);
    if (found == nullptr) detail::no_such_key(key, size());
    return *found;
  }
  const Value& operator[](const char* key) const {
    return (*this)[std::string_view(key)];
  }
  Value& operator[](const char* key) { return (*this)[std::string_view(key)]; }
  const Item& operator[](size_t i) const {
    if (i >= size()) detail::no_such_index(i, size());
    return items_[i];
  }
  Item& operator[](size_t i) {
    if (i >= size()) detail::no_such_index(i, size());
    return items_[i];
  }

  std::vector<Key> keys() const {
    std::vector<Key> all;
    for (const Item& i : items_) all.push_back(i.first);
    return all;
  }
  std::vector<Value> values() const {
    std::vector<Value> all;
    for (const Item& i : items_) all.push_back(i.second);
    return all;
  }
  const std::vector<Item>& items() const { return items_; }

  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  bool is_empty() const { return items_.empty(); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  Item& front() { return (*this)[0]; }
  const Item& front() const { return (*this)[0]; }
  Item& back() { return (*this)[size() - 1]; }
  const Item& back() const { return (*this)[size() - 1]; }

 private:
  size_t place(std::string_view key) const {
    const auto at = std::lower_bound(
        sorted_.begin(), sorted_.end(), key,
        [&](uint32_t i, std::string_view k) { return items_[i].first < k; });
    return static_cast<size_t>(at - sorted_.begin());
  }
  bool is_at(size_t at, std::string_view key) const {
    return at < sorted_.size() && items_[sorted_[at]].first == key;
  }

  std::vector<Item> items_;
  std::vector<uint32_t> sorted_;  // indices of items_, by key
};

}  // namespace sy
