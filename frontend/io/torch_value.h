#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aten/tensor.h"

namespace sy {

struct ArchiveEntry;

// The contents of a checkpoint: a tree of tensors, numbers, strings, lists and
// dicts, as Python's torch.save takes it. A value is immutable. Copies share
// what it holds, so a value may stand in many places at no cost. Thread-safe
// but for the tensors.
class SY_API ArchiveValue {
 public:
  enum class Kind : uint8_t {
    None,
    Bool,
    Int,
    Float,
    String,
    Tensor,
    List,
    Tuple,
    Dict,
  };

  ArchiveValue() = default;  // None
  ArchiveValue(bool v) : kind_(Kind::Bool) { integer_ = v; }
  ArchiveValue(int v) : kind_(Kind::Int) { integer_ = v; }
  ArchiveValue(int64_t v) : kind_(Kind::Int) { integer_ = v; }
  ArchiveValue(double v) : kind_(Kind::Float) { real_ = v; }
  ArchiveValue(std::string v);
  ArchiveValue(const char* v) : ArchiveValue(std::string(v)) {}
  // An undefined tensor becomes None.
  ArchiveValue(Tensor v);
  static ArchiveValue list(std::vector<ArchiveValue> items);
  static ArchiveValue tuple(std::vector<ArchiveValue> items);
  // Throws ValueError unless the keys are strings and integers, each once.
  static ArchiveValue dict(std::vector<ArchiveEntry> entries);

  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::None; }
  bool is_tensor() const { return kind_ == Kind::Tensor; }
  bool is_dict() const { return kind_ == Kind::Dict; }

  // These throw TypeError for another kind. A bool passes for an int, and both
  // for a double.
  bool to_bool() const;
  int64_t to_int() const;
  double to_double() const;
  const std::string& to_string() const;
  const Tensor& to_tensor() const;
  // The items of a list or a tuple, and the entries of a dict in its order.
  // They live as long as a copy of this value does.
  const std::vector<ArchiveValue>& items() const;
  const std::vector<ArchiveEntry>& entries() const;

  // The value of a dict's key: nullptr, or IndexError, if there is no such key.
  // Takes the logarithm of the dict's size.
  const ArchiveValue* find(std::string_view key) const;
  const ArchiveValue& operator[](std::string_view key) const;

  // The tensors in order, whatever they nest in; and the value with others in
  // their place.
  std::vector<Tensor> tensors() const;
  ArchiveValue with_tensors(const std::vector<Tensor>& tensors) const;

  // The address that copies share: equal for two values only if one is a copy
  // of the other, or both hold nothing (nullptr).
  const void* identity() const { return payload_.get(); }

 private:
  ArchiveValue(Kind kind, std::shared_ptr<const void> payload)
      : payload_(std::move(payload)), kind_(kind) {}
  const void* payload(Kind kind) const;
  [[noreturn]] void wrong(const char* expected) const;

  // A string, a Tensor, the items, or a dict; nullptr for no items.
  std::shared_ptr<const void> payload_;
  union {
    int64_t integer_ = 0;
    double real_;
  };
  Kind kind_ = Kind::None;
};

// An entry of a dict.
struct ArchiveEntry {
  ArchiveValue key;
  ArchiveValue value;
};

// "an int", for messages.
SY_API const char* kind_name(ArchiveValue::Kind kind);

}  // namespace sy
