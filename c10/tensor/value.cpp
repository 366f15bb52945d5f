#include "c10/tensor/value.h"

#include <memory>
#include <vector>

namespace sy {

namespace {

// The shared part of strings and lists: elements of one type, contiguous.
template <class T>
struct List : RefCounted {
  std::vector<T> elements;
};
template <>
struct List<bool> : RefCounted {
  std::unique_ptr<bool[]> elements;
  size_t size = 0;
};
struct Text : RefCounted {
  std::string text;
};

template <class T, class Source>
void* make_list(const Source* data, size_t n) {
  auto* list = new List<T>;
  list->elements.reserve(n);
  for (size_t i = 0; i < n; ++i) list->elements.push_back(T(data[i]));
  return list;
}

template <class T>
const std::vector<T>& elements(void* p) {
  return static_cast<List<T>*>(p)->elements;
}

template <class F>
void with_payload(Value::Tag tag, void* p, F&& f) {
  switch (tag) {
    case Value::Tag::Tensor: return f(static_cast<TensorImpl*>(p));
    case Value::Tag::Generator: return f(static_cast<GeneratorImpl*>(p));
    case Value::Tag::String: return f(static_cast<Text*>(p));
    case Value::Tag::IntList: return f(static_cast<List<int64_t>*>(p));
    case Value::Tag::DoubleList: return f(static_cast<List<double>*>(p));
    case Value::Tag::BoolList: return f(static_cast<List<bool>*>(p));
    case Value::Tag::TensorList:
    case Value::Tag::OptionalTensorList:
      return f(static_cast<List<TensorBase>*>(p));
    case Value::Tag::ScalarList: return f(static_cast<List<Scalar>*>(p));
    case Value::Tag::StringList: return f(static_cast<List<std::string>*>(p));
    default: return;
  }
}

}  // namespace

Value::Value(const Scalar& s) {
  switch (s.tag()) {
    case Scalar::Tag::Bool:
      tag_ = Tag::Bool;
      i_ = s.to_bool();
      break;
    case Scalar::Tag::Int:
      tag_ = Tag::Int;
      i_ = s.to_long();
      break;
    case Scalar::Tag::Double:
      tag_ = Tag::Double;
      d_ = s.to_double();
      break;
  }
}

Value::Value(std::string_view s) : tag_(Tag::String) {
  auto* text = new Text;
  text->text = s;
  p_ = text;
}
Value::Value(IntArrayRef list) : tag_(Tag::IntList) {
  p_ = make_list<int64_t>(list.data(), list.size());
}
Value::Value(ArrayRef<double> list) : tag_(Tag::DoubleList) {
  p_ = make_list<double>(list.data(), list.size());
}
Value::Value(ArrayRef<bool> list) : tag_(Tag::BoolList) {
  auto* copy = new List<bool>;
  copy->size = list.size();
  copy->elements = std::make_unique<bool[]>(list.size());
  for (size_t i = 0; i < list.size(); ++i) copy->elements[i] = list[i];
  p_ = copy;
}
Value::Value(ArrayRef<Scalar> list) : tag_(Tag::ScalarList) {
  p_ = make_list<Scalar>(list.data(), list.size());
}
Value Value::tensor_list(const TensorBase* data, size_t n) {
  Value v;
  v.p_ = make_list<TensorBase>(data, n);
  v.tag_ = Tag::TensorList;
  return v;
}
Value Value::optional_tensor_list(const TensorBase* data, size_t n) {
  Value v = tensor_list(data, n);
  v.tag_ = Tag::OptionalTensorList;
  return v;
}
Value Value::string_list(const std::string_view* data, size_t n) {
  Value v;
  v.p_ = make_list<std::string>(data, n);
  v.tag_ = Tag::StringList;
  return v;
}

void Value::retain() const noexcept {
  with_payload(tag_, p_, [](auto* p) {
    RefCountedAccess<std::remove_pointer_t<decltype(p)>>::retain(p);
  });
}

void Value::release() noexcept {
  if (tag_ == Tag::Tensor) {
    RefCountedAccess<TensorImpl>::release(static_cast<TensorImpl*>(p_));
    return;
  }
  with_payload(tag_, p_, [](auto* p) {
    RefCountedAccess<std::remove_pointer_t<decltype(p)>>::release(p);
  });
}

void Value::wrong_tag(const char* expected) const {
  fail(ErrorKind::Type, "expected {}, got {}{}", expected, tag_name(tag_),
       is_none() ? std::string() : " " + to_string(*this));
}

bool Value::to_bool() const {
  if (tag_ != Tag::Bool) wrong_tag("bool");
  return i_ != 0;
}
int64_t Value::to_int() const {
  if (tag_ != Tag::Int && tag_ != Tag::Bool) wrong_tag("int");
  return i_;
}
double Value::to_double() const {
  if (tag_ == Tag::Double) return d_;
  if (tag_ != Tag::Int && tag_ != Tag::Bool) wrong_tag("float");
  return static_cast<double>(i_);
}
Scalar Value::to_scalar() const {
  switch (tag_) {
    case Tag::Bool: return Scalar(i_ != 0);
    case Tag::Int: return Scalar(i_);
    case Tag::Double: return Scalar(d_);
    default: wrong_tag("Scalar");
  }
}
sy::ScalarType Value::to_scalar_type() const {
  if (tag_ != Tag::ScalarType) wrong_tag("ScalarType");
  return static_cast<sy::ScalarType>(i_);
}
sy::Device Value::to_device() const {
  if (tag_ != Tag::Device) wrong_tag("Device");
  return {static_cast<DeviceType>(i_ & 0xff), static_cast<int8_t>(i_ >> 8)};
}
sy::Layout Value::to_layout() const {
  if (tag_ != Tag::Layout) wrong_tag("Layout");
  return static_cast<sy::Layout>(i_);
}
sy::MemoryFormat Value::to_memory_format() const {
  if (tag_ != Tag::MemoryFormat) wrong_tag("MemoryFormat");
  return static_cast<sy::MemoryFormat>(i_);
}
const TensorBase& Value::to_tensor() const {
  if (tag_ != Tag::Tensor && tag_ != Tag::None) wrong_tag("Tensor");
  // A TensorBase is one counted pointer, as is the payload.
  return *reinterpret_cast<const TensorBase*>(&p_);
}
TensorBase& Value::to_tensor() {
  if (tag_ != Tag::Tensor && tag_ != Tag::None) wrong_tag("Tensor");
  return *reinterpret_cast<TensorBase*>(&p_);
}
sy::Generator Value::to_generator() const {
  if (tag_ != Tag::Generator) wrong_tag("Generator");
  return sy::Generator::retain(static_cast<GeneratorImpl*>(p_));
}
std::string_view Value::to_string_view() const {
  if (tag_ != Tag::String) wrong_tag("str");
  return static_cast<Text*>(p_)->text;
}
IntArrayRef Value::to_int_list() const {
  if (tag_ == Tag::Int) return {&i_, 1};
  if (tag_ != Tag::IntList) wrong_tag("int[]");
  return elements<int64_t>(p_);
}
ArrayRef<double> Value::to_double_list() const {
  if (tag_ == Tag::Double) return {&d_, 1};
  if (tag_ != Tag::DoubleList) wrong_tag("float[]");
  return elements<double>(p_);
}
ArrayRef<bool> Value::to_bool_list() const {
  if (tag_ != Tag::BoolList) wrong_tag("bool[]");
  auto* list = static_cast<List<bool>*>(p_);
  return ArrayRef<bool>(list->elements.get(), list->size);
}
ArrayRef<Scalar> Value::to_scalar_list() const {
  if (tag_ != Tag::ScalarList) wrong_tag("Scalar[]");
  return elements<Scalar>(p_);
}
ArrayRef<TensorBase> Value::to_tensor_list() const {
  if (tag_ == Tag::Tensor) {
    return {reinterpret_cast<const TensorBase*>(&p_), 1};
  }
  if (tag_ != Tag::TensorList && tag_ != Tag::OptionalTensorList) {
    wrong_tag("Tensor[]");
  }
  return elements<TensorBase>(p_);
}
ArrayRef<std::string> Value::to_string_list() const {
  if (tag_ != Tag::StringList) wrong_tag("str[]");
  return elements<std::string>(p_);
}

const char* tag_name(Value::Tag t) noexcept {
  static constexpr const char* kNames[] = {
      "None",      "bool",     "int",          "float",  "ScalarType",
      "Device",    "Layout",   "MemoryFormat", "Tensor", "Generator",
      "str",       "int[]",    "float[]",      "bool[]", "Tensor[]",
      "Tensor?[]", "Scalar[]", "str[]"};
  return kNames[static_cast<int>(t)];
}

namespace {
template <class L, class F>
std::string bracketed(const L& list, F&& print) {
  std::string out = "[";
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ", ";
    out += print(list[i]);
  }
  return out + "]";
}
}  // namespace

std::string to_string(const Value& v) {
  using Tag = Value::Tag;
  switch (v.tag()) {
    case Tag::None: return "None";
    case Tag::Bool:
    case Tag::Int:
    case Tag::Double: return to_string(v.to_scalar());
    case Tag::ScalarType: return to_string(v.to_scalar_type());
    case Tag::Device: return to_string(v.to_device());
    case Tag::Layout: return to_string(v.to_layout());
    case Tag::MemoryFormat: return to_string(v.to_memory_format());
    case Tag::Tensor: return describe(v.to_tensor());
    case Tag::Generator: return "Generator";
    case Tag::String: return str("\"{}\"", v.to_string_view());
    case Tag::IntList: return to_string(v.to_int_list());
    case Tag::DoubleList:
      return bracketed(v.to_double_list(),
                       [](double d) { return str("{}", d); });
    case Tag::BoolList:
      return bracketed(v.to_bool_list(), [](bool b) { return str("{}", b); });
    case Tag::TensorList:
    case Tag::OptionalTensorList:
      return bracketed(v.to_tensor_list(),
                       [](const TensorBase& t) { return describe(t); });
    case Tag::ScalarList:
      return bracketed(v.to_scalar_list(),
                       [](const Scalar& s) { return to_string(s); });
    case Tag::StringList:
      return bracketed(v.to_string_list(),
                       [](const std::string& s) { return str("\"{}\"", s); });
  }
  return "?";
}

}  // namespace sy
