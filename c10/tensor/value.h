#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "c10/tensor/tensor_base.h"

namespace sy {

// A boxed argument or result: a tag and a payload in 16 bytes. Lists and
// strings are shared, reference-counted and immutable. A Scalar is stored as
// its bool, int or double; a number of two doubles would be a counted payload,
// like everything above 8 bytes. It is as thread-safe as a counted pointer.
class SY_API Value {
 public:
  enum class Tag : uint8_t {
    None,
    Bool,
    Int,
    Double,
    ScalarType,
    Device,
    Layout,
    MemoryFormat,
    // The payloads from here on are reference-counted.
    Tensor,
    Generator,
    String,
    IntList,
    DoubleList,
    BoolList,
    TensorList,
    OptionalTensorList,
    ScalarList,
    StringList,
  };

  Value() = default;
  Value(std::nullopt_t) {}
  Value(bool v) : tag_(Tag::Bool) { i_ = v; }
  Value(int v) : tag_(Tag::Int) { i_ = v; }
  Value(int64_t v) : tag_(Tag::Int) { i_ = v; }
  Value(double v) : tag_(Tag::Double) { d_ = v; }
  Value(sy::ScalarType t) : tag_(Tag::ScalarType) {
    i_ = static_cast<int64_t>(t);
  }
  Value(sy::Device d) : tag_(Tag::Device) {
    i_ = number_of(d.type()) | (d.index() * 256);
  }
  Value(sy::Layout v) : tag_(Tag::Layout) { i_ = static_cast<int64_t>(v); }
  Value(sy::MemoryFormat v) : tag_(Tag::MemoryFormat) {
    i_ = static_cast<int64_t>(v);
  }
  Value(const Scalar& s);
  Value(TensorBase t) noexcept : tag_(Tag::Tensor) {
    p_ = t.release_impl();
    if (p_ == nullptr) tag_ = Tag::None;
  }
  Value(sy::Generator g) noexcept : tag_(Tag::Generator) { p_ = g.release(); }
  Value(std::string_view s);
  Value(const char* s) : Value(std::string_view(s)) {}
  Value(IntArrayRef list);
  Value(ArrayRef<double> list);
  Value(ArrayRef<bool> list);
  Value(ArrayRef<Scalar> list);
  // The elements are TensorBases, or of a class derived from it that adds no
  // data.
  static Value tensor_list(const TensorBase* data, size_t n);
  static Value tensor_list(std::initializer_list<TensorBase> l) {
    return tensor_list(l.begin(), l.size());
  }
  // Undefined tensors stand for absent ones.
  static Value optional_tensor_list(const TensorBase* data, size_t n);
  static Value string_list(const std::string_view* data, size_t n);

  // A tensor argument without a reference count: `t` must outlive the value,
  // and the values that it is moved to. Copies own the tensor.
  static Value borrowed(const TensorBase& t) noexcept {
    Value v;
    v.p_ = t.impl();
    v.tag_ = v.p_ == nullptr ? Tag::None : Tag::Tensor;
    v.owned_ = false;
    return v;
  }

  // The same of any value, which must outlive this one. It costs no count.
  static Value borrowed(const Value& o) noexcept {
    Value v;
    v.p_ = o.p_;
    v.tag_ = o.tag_;
    v.owned_ = false;
    return v;
  }

  Value(const Value& o) noexcept : p_(o.p_), tag_(o.tag_) {
    if (counted()) retain();
  }
  Value(Value&& o) noexcept : p_(o.p_), tag_(o.tag_), owned_(o.owned_) {
    o.p_ = nullptr;
    o.tag_ = Tag::None;
  }
  Value& operator=(Value o) noexcept {
    std::swap(p_, o.p_);
    std::swap(tag_, o.tag_);
    std::swap(owned_, o.owned_);
    return *this;
  }
  ~Value() {
    if (counted()) release();
  }

  Tag tag() const noexcept { return tag_; }
  bool is_none() const noexcept { return tag_ == Tag::None; }
  bool is_tensor() const noexcept { return tag_ == Tag::Tensor; }
  bool is_int() const noexcept { return tag_ == Tag::Int; }
  bool is_double() const noexcept { return tag_ == Tag::Double; }
  bool is_bool() const noexcept { return tag_ == Tag::Bool; }
  bool is_number() const noexcept {
    return tag_ >= Tag::Bool && tag_ <= Tag::Double;
  }

  // Each throws TypeError "expected X, got Y" if the tag does not fit. As in
  // PyTorch, a bool passes for an int, both pass for a double, and a single
  // int, double or tensor passes for a list of one. None passes for an
  // undefined tensor.
  bool to_bool() const;
  int64_t to_int() const;
  double to_double() const;
  Scalar to_scalar() const;
  sy::ScalarType to_scalar_type() const;
  sy::Device to_device() const;
  sy::Layout to_layout() const;
  sy::MemoryFormat to_memory_format() const;
  const TensorBase& to_tensor() const;
  TensorBase& to_tensor();
  sy::Generator to_generator() const;
  std::string_view to_string_view() const;
  IntArrayRef to_int_list() const;
  ArrayRef<double> to_double_list() const;
  ArrayRef<bool> to_bool_list() const;
  ArrayRef<Scalar> to_scalar_list() const;
  // For TensorList and OptionalTensorList, where absent tensors are undefined.
  ArrayRef<TensorBase> to_tensor_list() const;
  ArrayRef<std::string> to_string_list() const;

  // The counted object; nullptr for values without one. For fast paths.
  void* payload() const noexcept { return tag_ >= Tag::Tensor ? p_ : nullptr; }
  TensorImpl* tensor_impl() const noexcept {
    return tag_ == Tag::Tensor ? static_cast<TensorImpl*>(p_) : nullptr;
  }

 private:
  bool counted() const noexcept { return tag_ >= Tag::Tensor && owned_; }
  void retain() const noexcept;
  void release() noexcept;
  [[noreturn]] SY_COLD void wrong_tag(const char* expected) const;

  union {
    void* p_ = nullptr;
    int64_t i_;
    double d_;
  };
  Tag tag_ = Tag::None;
  bool owned_ = true;
};

static_assert(sizeof(Value) == 16);

// Calls f(const TensorBase&) with each defined tensor that the value holds, by
// itself or in a list.
template <class F>
void for_each_tensor(const Value& v, F&& f) {
  if (v.is_tensor()) {
    f(v.to_tensor());
  } else if (v.tag() == Value::Tag::TensorList ||
             v.tag() == Value::Tag::OptionalTensorList) {
    for (const TensorBase& t : v.to_tensor_list()) {
      if (t.defined()) f(t);
    }
  }
}

SY_API const char* tag_name(Value::Tag t) noexcept;
// For messages: "3", "float32[2, 3] on cpu", "[1, 2]".
SY_API std::string to_string(const Value& v);

}  // namespace sy
