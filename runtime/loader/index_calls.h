#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aten/engine/dims.h"
#include "c10/schema/type.h"
#include "c10/value.h"

namespace sy::runtime {

// A value of the index typing. Lists are copied, tensors and texts borrowed.
struct IndexSlot {
  enum Kind : uint8_t {
    kNone,
    kInt,
    kBool,
    kNumber,
    kList,
    kTensor,
    kTensors,
    kString
  };
  Kind kind = kNone;
  int64_t i = 0;  // of kBool too
  double d = 0;
  const TensorBase* tensor = nullptr;
  ArrayRef<TensorBase> tensors;
  std::string_view text;
  std::vector<int64_t> list;

  void set(int64_t v) {
    kind = kInt;
    i = v;
  }
  void set_bool(bool v) {
    kind = kBool;
    i = v;
  }
  void set(double v) {
    kind = kNumber;
    d = v;
  }
  void set(IntArrayRef v) {
    kind = kList;
    list.assign(v.begin(), v.end());
  }
  void set(const TensorBase& v) {
    kind = kTensor;
    tensor = &v;
  }
  void set(std::string_view v) {
    kind = kString;
    text = v;
  }
  // Of a boxed argument of that type; `v` outlives this.
  void set(const Value& v, Type type);
  // As it stands in a message.
  std::string str() const;
  Value box() const;
};

// A function of lang::index_functions(), in its C++ form.
struct IndexFunction {
  std::string_view name, parameters;
  void (*call)(const char* op, const IndexSlot* args, IndexSlot* out);
};
// The most parameters that one has.
inline constexpr size_t kMaxIndexParameters = 7;
// Of one name; at least one.
std::span<const IndexFunction> find_index_function(std::string_view name);
// Calls the one that takes the arguments. `op` is the operator's name, for
// messages. Throws what the function throws; ValueError if none takes them, as
// None in place of a value.
void call_index_function(std::span<const IndexFunction> overloads,
                         const char* op, const IndexSlot* args, size_t n,
                         IndexSlot* out);

}  // namespace sy::runtime
