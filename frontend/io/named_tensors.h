#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aten/tensor.h"

namespace sy {

// Tensors by name, in an order of their own: {{"weight", w}, {"bias", b}}. Each
// name stands once. A value type; copies share the tensors.
class SY_API NamedTensors {
 public:
  using Entry = std::pair<std::string, Tensor>;

  NamedTensors() = default;
  // Throws ValueError for a name that stands twice.
  NamedTensors(std::initializer_list<Entry> entries);
  explicit NamedTensors(std::vector<Entry> entries);
  // Adds a tensor at the end. Throws ValueError if the name is there.
  void insert(std::string name, Tensor tensor);

  bool contains(std::string_view name) const { return find(name) != nullptr; }
  // nullptr if there is no such name.
  const Tensor* find(std::string_view name) const;
  // Throws IndexError if there is no such name.
  const Tensor& operator[](std::string_view name) const;

  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::vector<uint32_t>::const_iterator place(std::string_view name) const;

  std::vector<Entry> entries_;
  std::vector<uint32_t> sorted_;  // indices of entries_, by name
};

}  // namespace sy
